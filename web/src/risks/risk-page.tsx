import { Link, useParams } from 'wouter';
import { answerOf, api, ifMatch } from '../api/client.ts';
import type { Risk } from '../api/openapi.ts';
import { useMay } from '../api/session.ts';
import { Level, Person, Score, Status } from '../components/badges.tsx';
import { Card } from '../components/card.tsx';
import { Facts } from '../components/facts.tsx';
import { History } from '../components/history.tsx';
import { day, words } from '../format.ts';
import { EntryTitle } from '../layout/entry-title.tsx';
import { LoadedPage } from '../layout/loaded-page.tsx';
import { Tasks } from '../tasks/tasks.tsx';
import { Why } from './explanation.tsx';
import { riskPath, useRisk } from './queries.ts';
import { EditRisk } from './risk-form.tsx';
import { RiskState } from './risk-state.tsx';
import './risk-page.css';

export function RiskPage() {
  const { key = '' } = useParams();
  const query = useRisk(key);
  const may = useMay();
  return (
    <LoadedPage query={query}>
      {(risk) => (
        <>
          <Head risk={risk} />
          <div className="columns">
            <div className="stack">
              {may('projects.manage') && <RiskState risk={risk} />}
              {risk.explain && (
                <Card id="why" title="Why it ranks where it does">
                  <Why risk={risk} explain={risk.explain} />
                </Card>
              )}
              <Plans risk={risk} />
              <Tasks project={risk.project_key} of={{ risk_id: risk.id }} kind="mitigation" />
            </div>
            <div className="stack">
              <Details risk={risk} />
              <Residual risk={risk} />
              <History
                of={risk.id}
                read={(client) =>
                  client.GET('/v1/projects/{project_id}/risks/{id}/history', { params: riskPath(risk) })
                }
              />
            </div>
          </div>
        </>
      )}
    </LoadedPage>
  );
}

const Head = ({ risk }: { risk: Risk }) => (
  <EntryTitle
    entry={risk}
    list="risks"
    edit={(onClose) => <EditRisk risk={risk} onClose={onClose} />}
    remove={() =>
      answerOf(
        api.DELETE('/v1/projects/{project_id}/risks/{id}', { params: riskPath(risk), ...ifMatch(risk) }),
      )
    }
  >
    This cannot be taken back, and its history goes out of sight. To end a risk and keep it, close it instead.
  </EntryTitle>
);

const Details = ({ risk }: { risk: Risk }) => (
  <Card id="details" title="Details">
    <Facts
      facts={[
        ['Status', <Status key="status" status={risk.status} />],
        ['Level', <Level key="level" level={risk.level} />],
        ['Kind', words(risk.kind)],
        ['Category', risk.category],
        ['Strategy', risk.strategy && words(risk.strategy)],
        ['Owner', risk.owner_name && <Owner key="owner" risk={risk} />],
        ['Raised', day(risk.raised_on)],
        ['Due', risk.due_on && day(risk.due_on)],
        ['Review', risk.review_on && day(risk.review_on)],
        ['Wanting', risk.checks.length > 0 && <Checks key="checks" checks={risk.checks} />],
        ['Issues', risk.issue_ids.length > 0 && `It has become ${risk.issue_ids.length}`],
        ['Your id', risk.external_id],
      ]}
    />
  </Card>
);

function Owner({ risk }: { risk: Risk }) {
  const may = useMay();
  const name = <Person name={risk.owner_name ?? ''} />;
  if (!may('personnel.read')) return name;
  const href = risk.owner_user_id ? `/personnel/${risk.owner_user_id}` : `/groups/${risk.owner_group_id}`;
  return (
    <>
      <Link href={href}>{name}</Link>
      {risk.owner_active === false && <span className="chip level-high">Inactive</span>}
    </>
  );
}

const Checks = ({ checks }: { checks: Risk['checks'] }) => (
  <span className="moves">
    {checks.map((check) => (
      <Link key={check} className="chip level-medium" href={`/risks?check=${check}`}>
        {words(check)}
      </Link>
    ))}
  </span>
);

const Plans = ({ risk }: { risk: Risk }) => {
  const facts: [string, string | null][] = [
    ['Description', risk.description],
    ['Response plan', risk.response_plan],
    ['Contingency', risk.contingency_plan],
    ['Trigger', risk.trigger],
  ];
  if (facts.every(([, value]) => value === null)) return null;
  return (
    <Card id="plans" title="Description and response">
      <Facts facts={facts} />
    </Card>
  );
};

/** Where it stood at first, stands now, and would stand after the response. */
const Residual = ({ risk }: { risk: Risk }) => (
  <Card id="residual" title="Before and after the response">
    <dl className="scores">
      <div>
        <dt>At first</dt>
        <dd>{risk.initial_score ?? '–'}</dd>
      </div>
      <div>
        <dt>Now</dt>
        <dd>
          <Score score={risk.score} level={risk.level} />
        </dd>
      </div>
      <div>
        <dt>Residual</dt>
        <dd>
          <Score score={risk.residual_score} level={risk.residual_level} />
        </dd>
      </div>
    </dl>
  </Card>
);
