import type { ReactNode } from 'react';
import { ApiError } from '../api/client.ts';
import type { RankedRisk, RiskHeatmap } from '../api/openapi.ts';
import {
  Health,
  Level,
  Movement,
  PersonLabel,
  Score,
  Severity,
  Status,
  TitleCell,
} from '../components/badges.tsx';
import { Bars } from '../components/bars.tsx';
import { Button, ButtonLink } from '../components/button.tsx';
import { Card, Facts } from '../components/card.tsx';
import { ConflictNotice } from '../components/conflict.tsx';
import { Dialog, DialogButton } from '../components/dialog.tsx';
import { Empty } from '../components/empty.tsx';
import { ErrorNotice } from '../components/error-notice.tsx';
import { FieldRow } from '../components/field-row.tsx';
import { FilterMenu, FilterToggle } from '../components/filters.tsx';
import { Form } from '../components/form.tsx';
import type { Field, FieldOf } from '../components/form-values.ts';
import { Loading } from '../components/loading.tsx';
import { Table } from '../components/table.tsx';
import { Tabs } from '../components/tabs.tsx';
import { toast } from '../components/toast.tsx';
import { useInlineFacts } from '../fields/inline-field.tsx';
import { enumOptions } from '../format.ts';
import { issueStatuses, severities } from '../issues/model.ts';
import { healthStates } from '../projects/queries.ts';
import { HeatMap } from '../risks/heat-map.tsx';
import { levelOf, levels, riskStatuses, scale } from '../risks/model.ts';

type Sample = { name: string; render: (theme: string) => ReactNode };

const ignore = () => {};

const colors = [
  ['paper', 'surface', 'sunken', 'hover', 'line', 'line-strong', 'text', 'quiet'],
  ['accent', 'accent-fill', 'accent-soft', 'unknown-soft'],
  ['low', 'medium', 'high', 'critical'].flatMap((level) => [level, `${level}-soft`, `${level}-fill`]),
].flat();

const fields: Field[] = [
  { name: 'line', label: 'Line', kind: 'line', required: true, hint: 'A hint', half: true },
  { name: 'day', label: 'Day', kind: 'day', half: true },
  { name: 'number', label: 'Number', kind: 'number', half: true },
  { name: 'choice', label: 'Choice', kind: 'choice', options: [['one', 'One']], half: true },
  { name: 'person', label: 'Person', kind: 'person', half: true },
  { name: 'text', label: 'Text', kind: 'text' },
];

const values: Record<string, string> = {
  line: 'A value',
  day: '2026-11-16',
  number: '12',
  text: 'Several\nlines',
};

const risk = (score: number | null, movement: RankedRisk['movement']) =>
  ({ id: String(score), score, status: 'open', created_at: '2020-01-01', rank: 1, movement }) as RankedRisk;

const then = (score_then: number | null) => ({ score_then, rank_then: 2, delta: 1 });

const cells: RiskHeatmap = scale.flatMap((probability) =>
  scale.map((impact) => ({
    probability,
    impact,
    score: probability * impact,
    level: levelOf(probability * impact),
    count: (probability * impact) % 7,
    top: [],
  })),
);

type Note = { title?: string; due_on?: string | null };

const noteFields: FieldOf<Note>[] = [
  { name: 'title', label: 'Title', kind: 'line', required: true },
  { name: 'due_on', label: 'Due', kind: 'day' },
];

function Inline({ theme }: { theme: string }) {
  const item = { title: 'Click to edit', due_on: null };
  const fact = useInlineFacts<Note, typeof item>({
    id: `design ${theme}`,
    name: 'Sample',
    item,
    fields: noteFields,
    canEdit: true,
    save: async () => item,
    reload: async () => item,
  });
  return <Facts facts={[fact('title'), fact('due_on')]} />;
}

/** Every component of the console. */
export const samples: readonly Sample[] = [
  {
    name: 'Colors',
    render: () => (
      <ul className="swatches">
        {colors.map((name) => (
          <li key={name}>
            <i style={{ background: `var(--${name})` }} /> {name}
          </li>
        ))}
      </ul>
    ),
  },
  {
    name: 'Text',
    render: () => (
      <div>
        <h3>Heading in a card</h3>
        <p>
          Text with a <a href="#main">link to the top</a>, <code>code</code>, <kbd>Ctrl</kbd>, ÁÉÍÓÚ žščřů
          0123456789.
        </p>
        <p className="quiet">Quiet text</p>
        <p className="overdue">Overdue</p>
        <p className="hint">A hint</p>
      </div>
    ),
  },
  {
    name: 'Buttons',
    render: () => (
      <div className="button-row">
        <Button primary>Primary</Button>
        <Button>Button</Button>
        <Button danger>Danger</Button>
        <Button plain>Plain</Button>
        <Button small>Small</Button>
        <Button icon="plus">Icon</Button>
        <Button isPending>Pending</Button>
        <Button isDisabled>Disabled</Button>
        <Button icon="edit" aria-label="Only an icon" />
        <ButtonLink href="/design">Link</ButtonLink>
        <FilterToggle label="Filter" value={undefined} onChange={ignore} />
        <FilterToggle label="Set filter" value="true" onChange={ignore} />
        <FilterMenu label="Menu" options={enumOptions(levels)} value="high" onChange={ignore} />
      </div>
    ),
  },
  {
    name: 'Badges',
    render: () => (
      <>
        <div className="button-row">
          {[25, 15, 8, 3].map((score) => (
            <Score key={score} score={score} level={levelOf(score)} />
          ))}
          <Score score={null} level={null} />
          {levels.map((level) => (
            <Level key={level} level={level} />
          ))}
          <Level level={null} />
          {severities.map((severity) => (
            <Severity key={severity} severity={severity} />
          ))}
        </div>
        <div className="button-row">
          {[...new Set([...riskStatuses, ...issueStatuses, 'todo', 'done', 'cancelled'])].map((status) => (
            <Status key={status} status={status} />
          ))}
        </div>
        <div className="button-row">
          {healthStates.map((state) => (
            <Health key={state} state={state} />
          ))}
          <PersonLabel name="Élodie Hébert" />
        </div>
        <div className="button-row">
          <Movement risk={risk(20, then(12))} since="2026-01-01" />
          <Movement risk={risk(6, then(9))} since="2026-01-01" />
          <Movement risk={risk(6, then(6))} since="2026-01-01" />
          <Movement risk={risk(6, then(null))} since="2026-01-01" />
        </div>
      </>
    ),
  },
  {
    name: 'Fields',
    render: () => (
      <div className="fields">
        {fields.map((field) => (
          <FieldRow
            key={field.name}
            field={field}
            value={values[field.name] ?? ''}
            error={field.name === 'number' ? 'Must be at most 10' : undefined}
            onChange={ignore}
          />
        ))}
      </div>
    ),
  },
  { name: 'Fields on a page', render: (theme) => <Inline theme={theme} /> },
  {
    name: 'Notices',
    render: () => (
      <>
        <p className="notice">Something to know</p>
        <p className="notice good">Something went well</p>
        <ErrorNotice error={new ApiError(500, { detail: 'Something failed.' })} retry={ignore} />
        <ConflictNotice isPending={false} changes={undefined} onReview={ignore} onOverwrite={ignore} />
      </>
    ),
  },
  {
    name: 'Dialog and toast',
    render: (theme) => (
      <div className="button-row">
        <DialogButton
          dialog={(onClose) => (
            <Dialog title={`Dialog (${theme})`} onClose={onClose}>
              <Form<Note> fields={noteFields} action="Save" submit={async () => {}} onClose={onClose} />
            </Dialog>
          )}
        >
          Open dialog
        </DialogButton>
        <Button onPress={() => toast('A message', async () => {})}>Show toast</Button>
      </div>
    ),
  },
  {
    name: 'Card',
    render: (theme) => (
      <Card id={`card-${theme}`} title={`Card (${theme})`}>
        <Facts
          facts={[
            ['Owner', <PersonLabel key="owner" name="Käthe Köhler" />],
            ['Due', '16 Nov 2026'],
            ['Description', 'Text that continues on a second line when the card is narrow.'],
          ]}
        />
      </Card>
    ),
  },
  {
    name: 'Table',
    render: (theme) => (
      <Table
        label={`Risks (${theme})`}
        rows={[25, 8]}
        rowKey={String}
        columns={[
          {
            name: 'score',
            header: 'Score',
            width: 4,
            cell: (score) => <Score score={score} level={levelOf(score)} />,
          },
          {
            name: 'title',
            header: 'Risk',
            cell: (score) => (
              <TitleCell href={`/risks/DESIGN-R${score}`} title="A risk" project_name="A project" />
            ),
          },
        ]}
      />
    ),
  },
  {
    name: 'Tabs',
    render: (theme) => (
      <Tabs
        label={`Tabs (${theme})`}
        tabs={{
          one: { title: 'One', count: 3, content: 'The first panel' },
          two: { title: 'Two', content: 'The second panel' },
        }}
        selected="one"
        onSelect={ignore}
      />
    ),
  },
  { name: 'Risk matrix', render: () => <HeatMap cells={cells} hrefOf={() => '/design'} /> },
  {
    name: 'Bars',
    render: () => (
      <Bars
        bars={[
          { label: 'Critical', count: 3, href: '/design', tone: 'critical' },
          { label: 'Other', count: 8, href: '/design' },
        ]}
      />
    ),
  },
  { name: 'Loading', render: () => <Loading /> },
  {
    name: 'Empty',
    render: () => <Empty title="No risks yet">Create a risk for each thing that could go wrong.</Empty>,
  },
];
