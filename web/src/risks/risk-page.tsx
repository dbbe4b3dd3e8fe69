import { useState } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import { answerOf, api, ifMatch } from '../api/client.ts';
import type { Risk } from '../api/openapi.ts';
import { useRefresh } from '../api/queries.ts';
import { useMay } from '../api/session.ts';
import { Level, Person, Score, Status } from '../components/badges.tsx';
import { Button } from '../components/button.tsx';
import { Confirm } from '../components/dialog.tsx';
import { Facts } from '../components/facts.tsx';
import { History } from '../components/history.tsx';
import { toast } from '../components/toast.tsx';
import { day, words } from '../format.ts';
import { LoadedPage } from '../layout/loaded-page.tsx';
import { Title } from '../layout/title.tsx';
import { Tasks } from '../tasks/tasks.tsx';
import { Why } from './explanation.tsx';
import { riskPath, useRisk } from './queries.ts';
import { EditRisk } from './risk-form.tsx';
import { RiskMoves } from './risk-moves.tsx';
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
              {may('projects.manage') && (
                <section className="card" aria-labelledby="state">
                  <h2 id="state">
                    State <Status status={risk.status} />
                  </h2>
                  <RiskMoves risk={risk} />
                  <StateFacts risk={risk} />
                </section>
              )}
              {risk.explain && (
                <section className="card" aria-labelledby="why">
                  <h2 id="why">Why it ranks where it does</h2>
                  <Why risk={risk} explain={risk.explain} />
                </section>
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

function Head({ risk }: { risk: Risk }) {
  const [open, setOpen] = useState<'edit' | 'delete' | null>(null);
  const may = useMay();
  const refresh = useRefresh();
  const [, navigate] = useLocation();
  const remove = async () => {
    await answerOf(
      api.DELETE('/v1/projects/{project_id}/risks/{id}', { params: riskPath(risk), ...ifMatch(risk) }),
    );
    navigate('/risks');
    await refresh();
    toast(`${risk.key} is deleted.`);
  };
  const close = () => setOpen(null);
  return (
    <Title
      title={risk.title}
      above={
        <>
          <Link href="/risks">Risks</Link> /{' '}
          <Link href={`/projects/${risk.project_key}`}>{risk.project_name}</Link> / {risk.key}
        </>
      }
    >
      {may('projects.manage') && (
        <>
          <Button icon="edit" onPress={() => setOpen('edit')}>
            Edit
          </Button>
          <Button plain icon="trash" aria-label="Delete" onPress={() => setOpen('delete')} />
        </>
      )}
      {open === 'edit' && <EditRisk risk={risk} onClose={close} />}
      {open === 'delete' && (
        <Confirm title={`Delete ${risk.key}?`} action="Delete" danger act={remove} onClose={close}>
          <p>
            This cannot be taken back, and its history goes out of sight. To end a risk and keep it, close it
            instead.
          </p>
        </Confirm>
      )}
    </Title>
  );
}

const StateFacts = ({ risk }: { risk: Risk }) => (
  <Facts
    facts={[
      ['Accepted until', risk.accepted_until && day(risk.accepted_until)],
      ['Acceptance', risk.acceptance_reason],
      ['Closed because', risk.closure_reason],
      ['Lessons', risk.lessons],
    ]}
  />
);

const Details = ({ risk }: { risk: Risk }) => (
  <section className="card" aria-labelledby="details">
    <h2 id="details">Details</h2>
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
  </section>
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
    <section className="card" aria-labelledby="plans">
      <h2 id="plans">Description and response</h2>
      <Facts facts={facts} />
    </section>
  );
};

/** Where it stood at first, stands now, and would stand after the response. */
const Residual = ({ risk }: { risk: Risk }) => (
  <section className="card" aria-labelledby="residual">
    <h2 id="residual">Before and after the response</h2>
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
  </section>
);
