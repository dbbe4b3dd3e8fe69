import { type Kysely, type RawBuilder, sql } from 'kysely';
import { type Static, type TSchema, Type } from 'typebox';
import { daysLater, type Moment } from '../../core/clock.ts';
import { Day, Id, Line, OrNull, optional, Strict } from '../../core/schemas.ts';
import { grants } from '../../core/scopes.ts';
import { inSnapshot } from '../../database/open.ts';
import { consoleUrl } from '../../database/sql/functions.ts';
import { rowAsJson } from '../../database/sql/rows.ts';
import type { App } from '../../http/fastify.ts';
import { sendWithContentEtag } from '../../http/response/resource.ts';
import { countRows, type List, listPage } from '../../lists/list.ts';
import type { ScopedDatabase } from '../../store/project-scope.ts';
import type { Tables } from '../../store/tables.ts';
import { commentJsonFields, commentRows } from '../comments/queries.ts';
import { Comment } from '../comments/schema.ts';
import { issueList } from '../issues/queries.ts';
import { Issue, openStatuses as openIssueStatuses } from '../issues/schema.ts';
import { riskList } from '../risks/register.ts';
import { Risk } from '../risks/schema.ts';
import { taskList } from '../tasks/queries.ts';
import { Task } from '../tasks/schema.ts';

/** How many days ahead a review or the end of an acceptance is shown, and for how long a mention is. */
const reviewDays = 14;
const acceptanceDays = 30;
const mentionDays = 30;

const defaultLimit = 20;
const maxLimit = 100;

/** The first rows of a list, and how many there are. */
const Section = (row: TSchema, description: string) =>
  Strict({ total: Type.Integer(), data: Type.Array(row) }, { description });

/** A comment with the item that it is about. */
const MentionComment = Strict(
  {
    ...Comment.properties,
    subject_key: OrNull(Type.String({ description: 'The key of the item.', examples: ['APOLLO-R7'] })),
    subject_title: Line({ description: 'The title of the item, or the name of the project.' }),
    web_url: Type.String({ format: 'uri', description: 'The page of the item in the console.' }),
  },
  { $id: 'MentionComment' },
);

const Work = Strict(
  {
    user_id: OrNull(Id('person', { description: 'Null for a key of a program, which has no work.' })),
    today: Day(),
    tasks: Section(Task, 'Open tasks that are assigned to you, by due date.'),
    issues: Section(Issue, 'Open issues that you own or that are assigned to you, by rank.'),
    risks: Section(Risk, 'Active risks that you own, by rank.'),
    reviews: Section(
      Risk,
      `Active risks that you own whose review is due within ${reviewDays} days, by date.`,
    ),
    acceptances: Section(
      Risk,
      `Accepted risks that you own or have accepted, whose acceptance ends within ${acceptanceDays} days, by date.`,
    ),
    mentions: Section(
      MentionComment,
      `Comments of the last ${mentionDays} days that mention you, the newest first.`,
    ),
  },
  { $id: 'Work' },
);

type Section = { total: number; data: unknown[] };

/** What waits for the person who has signed in. */
export function workRoute(app: App): void {
  app.get(
    '/v1/me/work',
    {
      config: { access: 'any' },
      schema: {
        operationId: 'getMyWork',
        summary: 'Get what waits for you',
        description:
          'Items of projects that are not archived. Each section has its first rows and the number of all; the lists ' +
          'with `owner_user_id=me` and `assignee_user_id=me` have the rest. Sections are empty without `projects.read`.',
        tags: ['service'],
        querystring: Strict(
          optional({
            limit: Type.Integer({
              minimum: 1,
              maximum: maxLimit,
              default: defaultLimit,
              description: 'Rows per section.',
            }),
          }),
        ),
        response: { 200: Work },
      },
    },
    async (request, reply) => {
      const { actor, moment, database } = request;
      const { limit = defaultLimit } = request.query as { limit?: number };
      const sees = actor.user_id !== null && grants(actor.scopes, 'projects.read');
      const lists = workLists(actor.user_id ?? '', moment);
      const empty = Object.keys(lists).map((name) => [name, { total: 0, data: [] }]);
      const sections = sees ? await readSections(database, lists, limit) : empty;
      const work = { user_id: actor.user_id, today: moment.today, ...Object.fromEntries(sections) };
      return sendWithContentEtag(request, reply, work as Static<typeof Work>);
    },
  );
}

/** Reads all sections from one snapshot, on a connection for slow reads. */
async function readSections(
  database: ScopedDatabase,
  lists: Record<string, List>,
  limit: number,
): Promise<[string, Section][]> {
  return inSnapshot(database, async (db) => {
    const sections: [string, Section][] = [];
    for (const [name, list] of Object.entries(lists))
      sections.push([name, await readSection(db, list, limit)]);
    return sections;
  });
}

async function readSection(db: Kysely<Tables>, list: List, limit: number): Promise<Section> {
  const rows = await listPage(db, list, undefined, limit);
  const total = rows.length < limit ? rows.length : await countRows(db, list);
  return { total, data: rows.map(({ json }) => JSON.parse(json)) };
}

function workLists(user_id: string, moment: Moment): Record<string, List> {
  const me = [user_id];
  const active = { status: ['active' as const], archived: 'false' as const };
  const own = { ...active, owner_user_id: me };
  const reviews = riskList(
    { filters: { ...own, review_before: daysLater(moment.today, reviewDays + 1) }, moment },
    'review_on',
  );
  const accepted = { ...active, status: ['accepted' as const] };
  return {
    tasks: taskList({ status: ['open'], archived: 'false', assignee_user_id: me }, moment),
    issues: narrowed(
      issueList({ status: [...openIssueStatuses], archived: 'false' }, moment),
      hasPart('issues', ['assignee_user_id', 'owner_user_id'], user_id),
    ),
    risks: riskList({ filters: own, moment }, 'rank'),
    reviews,
    acceptances: {
      ...narrowed(
        riskList({ filters: accepted, moment }, 'rank'),
        sql`${hasPart('risks', ['owner_user_id', 'accepted_by_user_id'], user_id)}
          and risks.accepted_until <= ${daysLater(moment.today, acceptanceDays)}`,
      ),
      order: { key: sql<string>`(coalesce(risks.accepted_until, '') || risks.id)` },
    },
    mentions: mentionList(user_id, moment),
  };
}

/** Whether one of these columns of an item is the person. With `or`, SQLite goes through all items. */
const hasPart = (table: 'risks' | 'issues', columns: readonly string[], user_id: string) =>
  sql<boolean>`${sql.ref(`${table}.id`)} in (${sql.join(
    columns.map((column) => sql`select id from ${sql.table(table)} where ${sql.ref(column)} = ${user_id}`),
    sql` union `,
  )})`;

/** The rows of a list that also match a condition, which an index finds, so that nothing is scanned. */
const narrowed = (list: List, condition: RawBuilder<boolean>): List => {
  const { ranked, counts, scan, idFrom, walksOrder, ...rest } = list;
  return { ...rest, isIndexed: false, matches: sql<boolean>`${list.matches} and ${condition}` };
};

function mentionList(user_id: string, moment: Moment): List {
  const since = new Date(Date.parse(moment.now) - mentionDays * 86_400_000).toISOString();
  const subject = (of: 'key' | 'title') =>
    sql`case comments.subject_type
      when 'risk' then (select ${sql.ref(`risks.${of}`)} from risks where risks.id = comments.subject_id)
      when 'issue' then (select ${sql.ref(`issues.${of}`)} from issues where issues.id = comments.subject_id)
      when 'task' then (select ${sql.ref(`tasks.${of}`)} from tasks where tasks.id = comments.subject_id)
      else (select ${sql.ref(of === 'key' ? 'projects.key' : 'projects.name')} from projects
        where projects.id = comments.subject_id) end`;
  const key = subject('key');
  const page = (type: string, path: string) => sql`when ${sql.lit(type)} then ${consoleUrl(path, key)}`;
  return {
    schema: MentionComment,
    json: rowAsJson(MentionComment, 'comments', {
      ...commentJsonFields,
      subject_key: key,
      subject_title: subject('title'),
      web_url: sql`case comments.subject_type ${page('risk', '/risks/')} ${page('issue', '/issues/')}
        ${page('task', '/tasks/')} else ${consoleUrl('/projects/', key)} end`,
    }),
    reads: ['comments', 'people', 'projects', 'risks', 'issues', 'tasks'],
    isTimeDependent: true,
    isIndexed: false,
    order: { key: sql`(comments.created_at || comments.id)`, descending: true },
    from: commentRows,
    id: sql.ref('comments.id'),
    matches: sql`comments.mentions <> '[]' and comments.created_at >= ${since}
      and comments.mentions like ${`%"${user_id}"%`}
      and exists (select 1 from projects where projects.id = comments.project_id and projects.archived_at is null)`,
  };
}
