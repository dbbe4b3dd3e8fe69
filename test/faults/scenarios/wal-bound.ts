import { statSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { expectJson, importRows } from '../client.ts';
import { countStalls, probeLivez } from '../livez-probe.ts';
import type { Options } from '../outcome.ts';
import { fastDatabase, fillWidePeople, startWithClient } from '../service.ts';

/** The limit in docs/operations.md. */
const maxWalBytes = 128 * 1024 * 1024;
const readBytesPerSecond = 40_000;

/** Without checkpoints, this many writes grow the WAL to twice the limit. A slow machine gets more time for them. */
const fullRunWrites = 5000;
const maxMs = 8 * 60_000;

/** One client reads a complete list very slowly, which holds a snapshot, while other clients write. */
export async function writeBesideSlowReader(options: Options): Promise<void> {
  const { cleanup, isQuickRun, tally } = options;
  const people = isQuickRun ? 20_000 : 100_000;
  const minMs = isQuickRun ? 3000 : 40_000;
  const minWrites = isQuickRun ? 0 : fullRunWrites;
  const url = await fastDatabase(options, 'sqlite');
  await fillWidePeople(url, people, { note: 'x'.repeat(1500) });
  const { service, client } = await startWithClient(options, url, { connections: 10 });
  const probe = probeLivez(cleanup, service);
  const wal = `${url.slice('sqlite:'.length)}-wal`;

  const reader = readSlowly(`${service.origin}/v1/personnel`, service.key ?? '');
  cleanup.after(() => reader.hurry());
  const startedAt = performance.now();
  const elapsedMs = () => performance.now() - startedAt;
  let maxBytes = 0;
  const isOver = () =>
    maxBytes > maxWalBytes || elapsedMs() > maxMs || (elapsedMs() > minMs && tally.acknowledged >= minWrites);
  const watch = async () => {
    while (!isOver()) {
      maxBytes = Math.max(maxBytes, sizeOf(wal));
      await setTimeout(20);
    }
  };
  const write = async (_: unknown, writer: number) => {
    const { user_id } = await expectJson(client, 'POST', '/v1/personnel', { name: `Writer ${writer}` });
    for (let round = 0; !isOver(); round++) {
      const attributes = Object.fromEntries(
        Array.from({ length: 20 }, (_, i) => [`a${i}`, `${round} ${'x'.repeat(400)}`]),
      );
      await expectJson(client, 'PATCH', `/v1/personnel/${user_id}`, { attributes });
      tally.acknowledged++;
    }
  };
  const importPeople = async () => {
    const attributes = { note: 'x'.repeat(1500) };
    const rows = Array.from({ length: 2000 }, (_, i) => ({ name: `Imported ${i}`, attributes }));
    while (!isOver()) {
      const { status } = await importRows(client, '/v1/personnel/import', rows);
      if (status === 200) tally.acknowledged++;
    }
  };
  await Promise.all([watch(), importPeople(), ...Array.from({ length: 8 }, write)]);
  const seconds = Math.round(elapsedMs() / 1000);
  tally.rounds = 1;
  await countStalls(tally, probe, { isBound: false });

  const received = reader.received();
  reader.hurry();
  const list = await reader.end;
  tally.note(
    `the WAL grew to ${megabytes(maxBytes)} in ${seconds} s and has ${megabytes(sizeOf(wal))} at the end; ` +
      `the slow reader had ${megabytes(received)} by then, and ${list.isComplete ? 'received the complete list' : 'was disconnected'}`,
  );
  if (maxBytes > maxWalBytes) tally.fail(`The WAL grew to ${megabytes(maxBytes)}.`);
  if (list.isComplete && list.rows !== list.total) {
    tally.fail(`The slow reader's response was complete with ${list.rows} of ${list.total} people.`);
  }
}

/** Reads at `readBytesPerSecond` until `hurry` is called. */
function readSlowly(url: string, key: string) {
  let isSlow = true;
  let bytes = 0;
  const read = async (incoming: IncomingMessage) => {
    const chunks: Buffer[] = [];
    let allowedAt = performance.now();
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      chunks.push(chunk);
      allowedAt += (chunk.length / readBytesPerSecond) * 1000;
      while (isSlow && performance.now() < allowedAt) await setTimeout(20);
    }
    const { data, page } = JSON.parse(Buffer.concat(chunks).toString());
    return { isComplete: incoming.complete, rows: data.length, total: page.total };
  };
  const cutOff = { isComplete: false, rows: 0, total: 0 };
  const end = new Promise<typeof cutOff>((resolve) => {
    get(url, { headers: { authorization: `Bearer ${key}` } }, (incoming) => {
      read(incoming).then(resolve, () => resolve(cutOff));
    }).on('error', () => resolve(cutOff));
  });
  return {
    end,
    received: () => bytes,
    hurry() {
      isSlow = false;
    },
  };
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

const megabytes = (bytes: number) => `${(bytes / 1_000_000).toFixed(1)} MB`;
