import cluster from 'node:cluster';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../../core/clock.ts';
import { UsageError } from '../../core/errors.ts';
import { connectToPrimary, type ToWorker } from '../../http/ops/peers.ts';
import { greeting, startService, stopSignals, stopWithGrace } from '../serve.ts';
import { createWriteTurns } from './turns.ts';

type Start = Extract<ToWorker, { type: 'start' }>;

/** Serves requests as one of several workers, with the settings that the primary process sends. */
export async function serveAsWorker(): Promise<void> {
  if (!cluster.isWorker)
    throw new UsageError(
      'Only `muster serve` starts workers. Run it with MUSTER_WORKERS set to their number.',
    );
  for (const signal of stopSignals) process.on(signal, () => {});
  const peers = connectToPrimary();
  let isStarting = true;
  peers.on('stop', () => {
    if (isStarting) process.exit(0);
  });
  const { config, isFirst } = await new Promise<Start>((resolve) => peers.on('start', resolve));
  const turns = createWriteTurns(peers);
  const { app, firstKey } = await startService(config, systemClock, { peers, turns, listensLast: !isFirst });
  isStarting = false;
  stopWithGrace(app);
  const { port } = app.server.address() as AddressInfo;
  peers.send({ type: 'ready', greeting: greeting(app, firstKey), port });
}
