import { setTimeout } from 'node:timers/promises';
import type { Client } from './client.ts';
import type { Service } from './service.ts';

/** Measures the time until a write succeeds and `/readyz` of all instances returns 200. */
export async function timeToHeal(client: Client, services: readonly Service[]): Promise<number> {
  const startedAt = performance.now();
  const elapsedMs = () => performance.now() - startedAt;
  const isReady = ({ origin }: Service) =>
    fetch(`${origin}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (services.every((service) => service.isRunning()) && elapsedMs() < 60_000) {
    const name = `healed ${crypto.randomUUID()}`;
    const written = await client.send('POST', '/v1/personnel', { name }).catch(() => undefined);
    const ready = await Promise.all(services.map(isReady));
    if (written?.status === 201 && !ready.includes(false)) break;
    await setTimeout(10);
  }
  return elapsedMs();
}
