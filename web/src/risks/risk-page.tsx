import { Link, useParams } from 'wouter';
import type { Risk, RiskPatch } from '../api/openapi.ts';
import { useHasScope } from '../api/session.ts';
import { DueDay, DueSummary, Level, PersonLabel, Score, Status } from '../components/badges.tsx';
import { Card, Facts } from '../components/card.tsx';
import { ItemLink, SourceLink } from '../components/item-link.tsx';
import { Attributes } from '../fields/attributes.tsx';
import type { Editor } from '../fields/editor.ts';
import { useInlineFacts } from '../fields/inline-field.tsx';
import { capitalize, humanize } from '../format.ts';
import { activityOf, ItemColumns } from '../layout/item-page.tsx';
import { ItemTitle } from '../layout/item-title.tsx';
import { LoadedPage } from '../layout/loaded-page.tsx';
import { NoOwner, OwnerLink, PersonLink } from '../personnel/person-link.tsx';
import { Tasks } from '../tasks/tasks.tsx';
import { wordsOf } from './kinds.ts';
import { useRiskModel } from './model.ts';
import { useRisk } from './queries.ts';
import { RankExplanation } from './rank-explanation.tsx';
import { useRiskEditor } from './risk-form.tsx';
import { RiskStatusCard } from './risk-status.tsx';
import { ScoreHistory } from './score-history.tsx';
import './risk-page.css';

export function RiskPage() {
  const { key = '' } = useParams();
  return (
    <LoadedPage query={useRisk(key)} needed={useRiskModel()}>
      {(risk) => <RiskContents risk={risk} />}
    </LoadedPage>
  );
}

function RiskContents({ risk }: { risk: NonNullable<ReturnType<typeof useRisk>['data']> }) {
  const editor = useRiskEditor(risk);
  return (
    <>
      <Head editor={editor} />
      <ItemColumns
        editor={editor}
        main={
          <>
            <RiskStatusCard editor={editor} />
            {risk.explain && (
              <Card id="ranking" title="How this is ranked">
                <RankExplanation risk={risk} explain={risk.explain} />
              </Card>
            )}
            <Plans editor={editor} />
            <Tasks project={risk.project_key} parent={{ risk_id: risk.id }} kind="mitigation" />
          </>
        }
        side={
          <>
            <Details editor={editor} />
            <Scores editor={editor} />
            <Attributes editor={editor} />
          </>
        }
        activity={activityOf('risks', risk)}
      />
    </>
  );
}

type Props = { editor: Editor<RiskPatch, Risk> };

const isOverdue = ({ checks }: Risk) => checks.includes('due_overdue');

const Head = ({ editor }: Props) => {
  const risk = editor.item;
  return (
    <ItemTitle
      editor={editor}
      summary={
        <>
          <Score score={risk.score} level={risk.level} kind={risk.kind} />
          <Status status={risk.status} kind={risk.kind} />
          {risk.owner_name ? <PersonLabel name={risk.owner_name} /> : <NoOwner />}
          <DueSummary day={risk.due_on} isOverdue={isOverdue(risk)} />
        </>
      }
    >
      This can't be undone; its history will be hidden. To keep it, close it instead.
    </ItemTitle>
  );
};

function Details({ editor }: Props) {
  const fact = useInlineFacts(editor);
  const risk = editor.item;
  const raisedBy = useHasScope()('personnel.read') && risk.raised_by_user_id;
  const owner = risk.owner_name && <OwnerLink key="owner" item={risk} />;
  return (
    <Card id="details" title="Details">
      <Facts
        facts={[
          ['Level', <Level key="level" level={risk.level} kind={risk.kind} />],
          fact('kind'),
          fact('category', risk.category && capitalize(risk.category)),
          fact('strategy'),
          fact('owner_user_id', risk.owner_group_id ? null : (owner ?? <NoOwner key="owner" />)),
          fact('owner_group_id', risk.owner_group_id && owner),
          fact('raised_on'),
          fact('raised_by_user_id', raisedBy && <PersonLink key="raised" user_id={raisedBy} />),
          fact('due_on', risk.due_on && <DueDay key="due" day={risk.due_on} isOverdue={isOverdue(risk)} />),
          fact('review_on'),
          ['Needs attention', risk.checks.length > 0 && <Checks key="checks" checks={risk.checks} />],
          ['Issues', risk.issue_ids.length > 0 && <LinkedIssues key="issues" risk={risk} />],
          fact('source_url', risk.source_url && <SourceLink key="source" url={risk.source_url} />),
          fact('external_id'),
        ]}
      />
    </Card>
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

function Plans({ editor }: Props) {
  const fact = useInlineFacts(editor);
  const facts = [fact('description'), fact('response_plan'), fact('contingency_plan'), fact('trigger')];
  if (facts.every(([, value]) => value === '')) return null;
  return (
    <Card id="plans" title="Description and response">
      <Facts facts={facts} />
    </Card>
  );
}

function Scores({ editor }: Props) {
  const fact = useInlineFacts(editor);
  const risk = editor.item;
  return (
    <Card id="scores" title={wordsOf(risk.kind).score}>
      <dl className="scores">
        <div>
          <dt>Initial</dt>
          <dd>{risk.initial_score ?? '–'}</dd>
        </div>
        <div>
          <dt>Current</dt>
          <dd>
            <Score score={risk.score} level={risk.level} kind={risk.kind} />
          </dd>
        </div>
        <div>
          <dt>Residual</dt>
          <dd>
            <Score score={risk.residual_score} level={risk.residual_level} kind={risk.kind} />
          </dd>
        </div>
      </dl>
      <Facts
        facts={[fact('probability'), fact('impact'), fact('residual_probability'), fact('residual_impact')]}
      />
      <ScoreHistory risk={risk} />
    </Card>
  );
}
