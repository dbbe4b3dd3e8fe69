import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { fileTypesByFormat, hostileFiles } from '../hostile-files.ts';
import { type Client, createClient } from './client.ts';

/** A hostile request. `send` resolves with the response, or after a fixed time. */
export type Attack = { name: string; isInQuickRun: boolean; send(client: Client): Promise<unknown> };

const members = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`a${i.toString(36)}`, 1]));
const unknownProjects = () => Array(30_000).fill('prj_01jd3k9m5vqs8h2n6r4t0c7e1b');
const nestedArrays = () => '['.repeat(500_000) + ']'.repeat(500_000);

const bodies: [name: string, isInQuickRun: boolean, path: string, body: () => unknown][] = [
  ['95,000 unknown members of a person', true, '/v1/personnel', () => members(95_000)],
  ['200,000 equal skills', true, '/v1/personnel', () => ({ name: 'x', skills: Array(200_000).fill('a') })],
  ['60,000 scopes', true, '/v1/keys', () => ({ name: 'x', scopes: Array(60_000).fill('keys.read') })],
  [
    '30,000 projects of a key',
    false,
    '/v1/keys',
    () => ({ name: 'x', scopes: ['keys.read'], project_ids: unknownProjects() }),
  ],
  ['60,000 attributes', false, '/v1/personnel', () => ({ name: 'x', attributes: members(60_000) })],
  ['500,000 nested arrays', false, '/v1/personnel', () => `{"name":${nestedArrays()}}`],
  ['300,000 combining marks', false, '/v1/personnel', () => ({ name: `a${'\u0327\u0301'.repeat(150_000)}` })],
];

/** Files of people, of which a dry run looks up the managers. */
const dryRuns: [name: string, isInQuickRun: boolean, rows: () => string[]][] = [
  [
    '100,000 rows with an unknown manager',
    false,
    () => Array.from({ length: 100_000 }, (_, i) => `p${i},,unknown ${i}\n`),
  ],
  [
    'a dry run of a chain of 4,000 managers',
    true,
    () => Array.from({ length: 4000 }, (_, i) => `Chain ${i},c${i},${i === 0 ? '' : `c${i - 1}`}\n`),
  ],
];

/** The worst known requests of each kind: bodies, queries, files and connections. */
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
  ...bodies.map(([name, isInQuickRun, path, body]) => ({
    name,
    isInQuickRun,
    send: (client: Client) => client.send('POST', path, body()),
  })),
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
  ...Object.entries(hostileFiles).map(([name, [format, create]]) => ({
    name,
    // `src/import/hostile.long.test.ts` sends them all.
    isInQuickRun: name === 'unclosed CDATA sections',
    send: async (client: Client) =>
      client.send('POST', '/v1/personnel/import', await create(), {
        'content-type': fileTypesByFormat[format],
      }),
  })),
  ...dryRuns.map(([name, isInQuickRun, rows]) => ({
    name,
    isInQuickRun,
    send: (client: Client) =>
      client.send(
        'POST',
        '/v1/personnel/import?dry_run=true',
        `name,external_id,manager\n${rows().join('')}`,
        { 'content-type': fileTypesByFormat.csv },
      ),
  })),
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
