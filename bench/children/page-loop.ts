import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { repeat } from '../measurement.ts';

/** Runs the page as one prepared query in a loop. */
export type PageLoop = { file: string; today: string; base_url: string; warm: number; seconds: number };

const { file, today, base_url, warm, seconds }: PageLoop = JSON.parse(process.argv[2] ?? '');
const db = new Sqlite(file, { readonly: true });
const page = db.prepare(readFileSync(join(import.meta.dirname, '../page.sql'), 'utf8')).pluck();
const read = () => page.get({ today, base_url }) as string;

repeat(warm, read);
const measurement = repeat(seconds, read);
const data = JSON.parse(read());
db.close();
console.log(JSON.stringify({ measurement, data }));
