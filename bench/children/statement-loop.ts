import pg from 'pg';
import { repeatAsync } from '../measurement.ts';

/** Runs a prepared statement on several PostgreSQL connections. Used if pgbench is not installed. */
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
const query = () => clients.query({ name: 'page', text: sql, values: parameters });

await repeatAsync(warm, query, connections);
const measurement = await repeatAsync(seconds, query, connections);
await clients.end();
console.log(JSON.stringify({ measurement }));
