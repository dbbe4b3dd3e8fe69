import { Link, useParams } from 'wouter';
import { api, dataOrThrow, ifMatch } from '../api/client.ts';
import type { Risk } from '../api/openapi.ts';
import { useHasScope } from '../api/session.ts';
import { Activity } from '../comments/activity.tsx';
import { Level, PersonLabel, Score, Status } from '../components/badges.tsx';
import { Card, Facts } from '../components/card.tsx';
import { ItemLink } from '../components/item-link.tsx';
import { formatDay, humanize } from '../format.ts';
import { ItemTitle } from '../layout/item-title.tsx';
import { LoadedPage } from '../layout/loaded-page.tsx';
import { Tasks } from '../tasks/tasks.tsx';
import { riskPath, useRisk } from './queries.ts';
import { RankExplanation } from './rank-explanation.tsx';
import { EditRisk } from './risk-form.tsx';
import { RiskStatusCard } from './risk-status.tsx';
import './risk-page.css';

export function RiskPage() {
  const { key = '' } = useParams();
  const query = useRisk(key);
  return (
    <LoadedPage query={query}>
      {(risk) => (
        <>
          <Head risk={risk} />
          <div className="columns with-activity">
            <div className="stack">
              <RiskStatusCard risk={risk} />
              {risk.explain && (
                <Card id="ranking" title="How this is ranked">
                  <RankExplanation risk={risk} explain={risk.explain} />
                </Card>
              )}
              <Plans risk={risk} />
              <Tasks project={risk.project_key} parent={{ risk_id: risk.id }} kind="mitigation" />
            </div>
            <div className="stack side">
              <Details risk={risk} />
              <Scores risk={risk} />
            </div>
            <Activity
              subject={{ id: risk.id, path: `/v1/projects/${risk.project_key}/risks/${risk.key}` }}
              project={risk.project_key}
            />
          </div>
        </>
      )}
    </LoadedPage>
  );
}

const Head = ({ risk }: { risk: Risk }) => (
  <ItemTitle
    item={risk}
    list="risks"
    summary={
      <>
        <Score score={risk.score} level={risk.level} />
        <Status status={risk.status} />
        {risk.owner_name ? <PersonLabel name={risk.owner_name} /> : <span className="quiet">No owner</span>}
        <span className="quiet">{risk.due_on ? `Due ${formatDay(risk.due_on)}` : 'No due date'}</span>
      </>
    }
    edit={(onClose) => <EditRisk risk={risk} onClose={onClose} />}
    remove={() =>
      dataOrThrow(
        api.DELETE('/v1/projects/{project_id}/risks/{id}', { params: riskPath(risk), ...ifMatch(risk) }),
      )
    }
  >
    This can't be undone; its history will be hidden. To keep the risk, close it instead.
  </ItemTitle>
);

const Details = ({ risk }: { risk: Risk }) => (
  <Card id="details" title="Details">
    <Facts
      facts={[
        ['Status', <Status key="status" status={risk.status} />],
        ['Level', <Level key="level" level={risk.level} />],
        ['Kind', humanize(risk.kind)],
        ['Category', risk.category],
        ['Strategy', risk.strategy && humanize(risk.strategy)],
        ['Owner', risk.owner_name && <Owner key="owner" risk={risk} />],
        ['Raised', formatDay(risk.raised_on)],
        ['Due', risk.due_on && formatDay(risk.due_on)],
        ['Review', risk.review_on && formatDay(risk.review_on)],
        ['Needs attention', risk.checks.length > 0 && <Checks key="checks" checks={risk.checks} />],
        ['Issues', risk.issue_ids.length > 0 && <LinkedIssues key="issues" risk={risk} />],
        ['External ID', risk.external_id],
      ]}
    />
  </Card>
);

function Owner({ risk }: { risk: Risk }) {
  const hasScope = useHasScope();
  const name = <PersonLabel name={risk.owner_name ?? ''} />;
  if (!hasScope('personnel.read')) return name;
  const href = risk.owner_user_id ? `/personnel/${risk.owner_user_id}` : `/groups/${risk.owner_group_id}`;
  return (
    <>
      <Link href={href}>{name}</Link>
      {risk.owner_active === false && <span className="chip level-high">Inactive</span>}
    </>
  );
}

const LinkedIssues = ({ risk: { project_key, issue_ids } }: { risk: Risk }) => (
  <ul>
    {issue_ids.map((id) => (
      <li key={id}>
        <ItemLink project={project_key} list="issues" id={id} />
      </li>
    ))}
  </ul>
);

const Checks = ({ checks }: { checks: Risk['checks'] }) => (
  <span className="button-row">
    {checks.map((check) => (
      <Link key={check} className="chip level-medium" href={`/risks?check=${check}`}>
        {humanize(check)}
      </Link>
    ))}
  </span>
);

const Plans = ({ risk }: { risk: Risk }) => {
  const facts: [string, string | null][] = [
    ['Description', risk.description],
    ['Response plan', risk.response_plan],
    ['Contingency plan', risk.contingency_plan],
    ['Trigger', risk.trigger],
  ];
  if (facts.every(([, value]) => value === null)) return null;
  return (
    <Card id="plans" title="Description and response">
      <Facts facts={facts} />
    </Card>
  );
};

const Scores = ({ risk }: { risk: Risk }) => (
  <Card id="scores" title="Risk score">
    <dl className="scores">
      <div>
        <dt>Initial</dt>
        <dd>{risk.initial_score ?? '–'}</dd>
      </div>
      <div>
        <dt>Current</dt>
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
