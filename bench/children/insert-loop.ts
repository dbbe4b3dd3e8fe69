import Sqlite from 'better-sqlite3';
import { systemClock } from '../../src/core/clock.ts';
import { newId } from '../../src/core/ids.ts';
import { personRow } from '../../src/resources/personnel/queries.ts';
import { repeat } from '../measurement.ts';

/** Inserts one person after another, each in its own durable transaction. */
export type InsertLoop = { file: string; warm: number; seconds: number };

const { file, warm, seconds }: InsertLoop = JSON.parse(process.argv[2] ?? '');
const db = new Sqlite(file);
db.pragma('journal_mode = wal');
db.pragma('synchronous = full');

const input = { name: 'Bench Person', email: '', title: 'Engineer', department: 'Operations' };
const row = personRow('', input, systemClock());
const columns = Object.keys(row);
const insert = db.prepare(
  `insert into people (${columns.join(', ')}) values (${columns.map((column) => `:${column}`).join(', ')})`,
);
let inserted = 0;
const add = () => {
  inserted++;
  insert.run({ ...row, user_id: newId('person'), email: `loop-${inserted}@example.com` });
};

const count = db.prepare('select count(*) from people').pluck();
const before = count.get() as number;
repeat(warm, add);
const measurement = repeat(seconds, add);
if (count.get() !== before + inserted) throw new Error('inserted rows are missing');
db.close();
console.log(JSON.stringify({ measurement }));
