import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { type Client, createClient } from './client.ts';
import { repeatingWorkbook, sheet, workbook } from './xlsx.ts';

/** A hostile request. `send` resolves with the response, or after a fixed time. */
export type Attack = { name: string; isInQuickRun: boolean; send(client: Client): Promise<unknown> };

const xlsx = { 'content-type': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet' };
const csv = { 'content-type': 'text/csv' };
const ndjson = { 'content-type': 'application/x-ndjson' };

const members = (count: number) =>
  `{${Array.from({ length: count }, (_, i) => `"a${i.toString(36)}":1`).join(',')}}`;
const repeated = (text: string, count: number) => Array.from({ length: count }, () => text).join(',');
const body =
  (path: string, text: () => string | Buffer, headers?: Record<string, string>) => (client: Client) =>
    client.send('POST', path, text(), headers);
const file = (createContent: () => string | Buffer, headers: Record<string, string>, query = '') =>
  body(`/v1/personnel/import${query}`, createContent, headers);

/** Repeated for nearly every row that a sheet can have, this fills 480 MiB. */
const blankRow = `<row>${' '.repeat(469)}</row>`;

/** The worst known request of each kind: bodies, queries, files and connections. */
export const attacks: readonly Attack[] = [
  {
    name: '95,000 unknown members, without a key',
    isInQuickRun: true,
    async send({ origin }) {
      const stranger = createClient(origin, { connections: 3 });
      await Promise.allSettled(
        Array.from({ length: 3 }, () => stranger.send('POST', '/v1/session', members(95_000))),
      );
      stranger.close();
    },
  },
  {
    name: '95,000 unknown members of a person',
    isInQuickRun: true,
    send: body('/v1/personnel', () => members(95_000)),
  },
  {
    name: '200,000 equal skills',
    isInQuickRun: true,
    send: body('/v1/personnel', () => `{"name":"x","skills":[${repeated('"a"', 200_000)}]}`),
  },
  {
    name: '60,000 scopes',
    isInQuickRun: true,
    send: body('/v1/keys', () => `{"name":"x","scopes":[${repeated('"keys.read"', 60_000)}]}`),
  },
  {
    name: '30,000 projects of a key',
    isInQuickRun: false,
    send: body('/v1/keys', () => {
      const ids = repeated('"prj_01jd3k9m5vqs8h2n6r4t0c7e1b"', 30_000);
      return `{"name":"x","scopes":["keys.read"],"project_ids":[${ids}]}`;
    }),
  },
  {
    name: '60,000 attributes',
    isInQuickRun: false,
    send: body('/v1/personnel', () => `{"name":"x","attributes":${members(60_000)}}`),
  },
  {
    name: '500,000 nested arrays',
    isInQuickRun: false,
    send: body('/v1/personnel', () => `{"name":${'['.repeat(500_000)}${']'.repeat(500_000)}}`),
  },
  {
    name: '300,000 combining marks',
    isInQuickRun: false,
    send: body('/v1/personnel', () => JSON.stringify({ name: `a${'\u0327\u0301'.repeat(150_000)}` })),
  },
  {
    name: '1,500 unknown parameters',
    isInQuickRun: true,
    send: (client) =>
      client.send('GET', `/v1/risks?${Array.from({ length: 1500 }, (_, i) => `p${i}=1`).join('&')}`),
  },
  {
    name: '3,000 values of a filter',
    isInQuickRun: false,
    send: (client) => client.send('GET', `/v1/risks?level=${'high,'.repeat(3000)}high`),
  },
  {
    name: 'a workbook with unclosed CDATA',
    isInQuickRun: true,
    send: file(() => {
      const text = '<![CDATA['.repeat(100_000);
      return workbook(sheet(`<row r="2"><c r="A2" t="inlineStr"><is><t>${text}</t></is></c></row>`));
    }, xlsx),
  },
  {
    name: 'a workbook with cells in column XFD',
    isInQuickRun: true,
    send: file(() => {
      const rows = Array.from(
        { length: 20_000 },
        (_, i) => `<row r="${i + 2}"><c r="XFD${i + 2}"><v>1</v></c></row>`,
      );
      return workbook(sheet(rows.join('')));
    }, xlsx),
  },
  {
    name: '480 MiB of blank rows',
    isInQuickRun: false,
    send: async (client) =>
      client.send('POST', '/v1/personnel/import', await repeatingWorkbook(blankRow, 1_040_000), xlsx),
  },
  {
    name: '24 MiB of quotes in a CSV file',
    isInQuickRun: false,
    send: file(() => `name\n${'"'.repeat(24 * 1024 * 1024)}`, csv),
  },
  {
    name: '100,000 rows of 60 empty cells',
    isInQuickRun: false,
    send: file(() => `name,title\n${`${','.repeat(60)}\n`.repeat(100_000)}`, csv),
  },
  {
    name: '100,000 rows with an unknown manager',
    isInQuickRun: false,
    send: file(
      () => `name,manager\n${Array.from({ length: 100_000 }, (_, i) => `p${i},unknown ${i}\n`).join('')}`,
      csv,
      '?dry_run=true',
    ),
  },
  {
    name: '2,000 nested arrays in each of 2,000 rows',
    isInQuickRun: false,
    send: file(() => `{"name":${'['.repeat(2000)}${']'.repeat(2000)}}\n`.repeat(2000), ndjson),
  },
  {
    name: 'a dry run of a chain of 4,000 managers',
    isInQuickRun: true,
    send: file(
      () => {
        const rows = Array.from(
          { length: 4000 },
          (_, i) => `Chain ${i},c${i},${i === 0 ? '' : `c${i - 1}`}\n`,
        );
        return `name,external_id,manager\n${rows.join('')}`;
      },
      csv,
      '?dry_run=true',
    ),
  },
  {
    name: '70 half-sent sign-ins',
    isInQuickRun: true,
    async send({ origin }) {
      const head =
        'POST /v1/session HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 1048576\r\n\r\n{';
      const sockets = Array.from({ length: 70 }, () =>
        connect(Number(new URL(origin).port), '127.0.0.1')
          .on('error', () => {})
          .resume(),
      );
      for (const socket of sockets) socket.write(head);
      await setTimeout(3000);
      for (const socket of sockets) socket.destroy();
    },
  },
];
