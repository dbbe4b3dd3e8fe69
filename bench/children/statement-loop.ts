import pg from 'pg';
import { repeatAsync } from '../measurement.ts';

/** A prepared statement on PostgreSQL, by so many connections at once: in the place of pgbench where there is none. */
export type StatementLoop = {
  url: string;
  sql: string;
  parameters: unknown[];
  connections: number;
  warm: number;
  seconds: number;
};

const { url, sql, parameters, connections, warm, seconds }: StatementLoop = JSON.parse(process.argv[2] ?? '');
const clients = new pg.Pool({ connectionString: url, max: connections });
const ask = () => clients.query({ name: 'page', text: sql, values: parameters });

await repeatAsync(warm, ask, connections);
const measurement = await repeatAsync(seconds, ask, connections);
await clients.end();
console.log(JSON.stringify({ measurement }));
