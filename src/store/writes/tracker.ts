import {
  DeleteQueryNode,
  type Insertable,
  InsertQueryNode,
  type Kysely,
  type KyselyPlugin,
  type OperationNode,
  type QueryExecutorProvider,
  type RawBuilder,
  type SelectQueryBuilder,
  TableNode,
  type Transaction,
  UpdateQueryNode,
} from 'kysely';
import type { Moment } from '../../core/clock.ts';
import type { StatefulPlugin } from '../../database/sql/savepoint.ts';
import type { SubjectType } from '../../resources/events/schema.ts';
import type { TableName, Tables } from '../tables.ts';
import type { Change, Differences } from './change.ts';

/** How the events of one kind of resource are written: the database reads their `data` when it inserts them. */
export type Subject = {
  type: SubjectType;
  // biome-ignore lint/suspicious/noExplicitAny: subjects join different tables; only the expressions below are selected
  from(db: Kysely<Tables>): SelectQueryBuilder<any, any, any>;
  id: RawBuilder<string>;
  key?: RawBuilder<string>;
  project_id?: RawBuilder<string>;
  /** The JSON of the resource as its GET returns it. */
  json(moment: Moment): RawBuilder<string>;
};

export type PendingEvent = {
  subject: Subject;
  subject_id: string;
  at: string;
  change: Change;
  /** Changed fields. `created` and `deleted` stand for the whole resource. */
  differences: Differences;
  /** Overrides the type that follows from the differences. */
  type?: string | undefined;
  /** The resource, if the database cannot read it at the end of the transaction, with its key and project. */
  given?: { data: object; key?: string | null; project_id?: string | null } | undefined;
  /** The resource as it was read after the change. */
  read?: EventData | undefined;
};

/** A resource, as its GET returns it. */
export type EventData = { version: number; key?: string; project_id?: string };

/** Events of many resources, which one or a few statements insert. */
export type EventsOfMany = {
  count: number;
  change: Change;
  /** Inserts the events with the sequence numbers from `first` on. */
  insert(db: Transaction<Tables>, first: number): Promise<void>;
};

/** What a transaction has changed. A plugin, because a transaction hands its plugins on. */
export class ChangeTracker implements StatefulPlugin {
  readonly tables = new Set<TableName>();
  /** Events without a sequence number. */
  readonly events: PendingEvent[] = [];
  readonly eventsOfMany: EventsOfMany[] = [];
  /** The last sequence number that was given, where no other transaction can take numbers meanwhile. */
  sequence: number | undefined;
  /** Events with a number that are not inserted yet. */
  readonly rows: Insertable<Tables['events']>[] = [];

  /** Returns a function that drops the events added since, when a part of the transaction is rolled back. */
  mark(): () => void {
    const [events, ofMany, rows] = [this.events.length, this.eventsOfMany.length, this.rows.length];
    return () => {
      this.events.splice(events);
      this.eventsOfMany.splice(ofMany);
      this.rows.splice(rows);
    };
  }

  transformQuery: KyselyPlugin['transformQuery'] = ({ node }) => {
    const table = changedTable(node);
    if (table) this.tables.add(table);
    return node;
  };
  transformResult: KyselyPlugin['transformResult'] = async ({ result }) => result;
}

/** The tracker of this transaction; undefined in a dry run. */
export const trackerOf = (db: QueryExecutorProvider): ChangeTracker | undefined =>
  db.getExecutor().plugins.find((plugin) => plugin instanceof ChangeTracker);

/** Whatever depends on who may do what is read again, on every instance, although no row of `access` may have changed. */
export const touchAccess = (db: Kysely<Tables>): void => void trackerOf(db)?.tables.add('access');

/**
 * The same transaction or snapshot without the limit to projects, for rules that concern the whole organization and for
 * counts that all keys share.
 */
export function withoutProjectScope<Db extends Kysely<Tables>>(db: Db): Db {
  const tracker = trackerOf(db);
  const unlimited = db.withoutPlugins();
  return (tracker ? unlimited.withPlugin(tracker) : unlimited) as Db;
}

/** Returns the table that a statement changes; undefined if it only reads. */
export function changedTable(node: OperationNode): TableName | undefined {
  const isChange = InsertQueryNode.is(node) || UpdateQueryNode.is(node) || DeleteQueryNode.is(node);
  if (!isChange) return undefined;
  const table = InsertQueryNode.is(node)
    ? node.into
    : UpdateQueryNode.is(node)
      ? node.table
      : node.from.froms[0];
  if (table && TableNode.is(table)) return table.table.identifier.name as TableName;
  throw new Error('A statement that writes must name one table, without an alias.');
}
