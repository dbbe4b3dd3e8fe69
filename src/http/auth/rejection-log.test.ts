import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { momentOf } from '../../core/clock.ts';
import { createRejectionLog } from './rejection-log.ts';

test('rejected keys are logged five times a minute for an address and 60 times in total, then counted', () => {
  const lines: Record<string, unknown>[] = [];
  const addressOf = ({ url = '' }) => url;
  const logRejection = createRejectionLog({ addressOf } as unknown as FastifyInstance);
  const reject = (address: string, second: number) =>
    logRejection(
      {
        log: { warn: (fields: Record<string, unknown>) => lines.push(fields) },
        method: 'GET',
        routeOptions: { url: '/v1/risks' },
        raw: { url: address },
        moment: momentOf(new Date(second * 1000)),
      } as unknown as FastifyRequest,
      'That key has expired.',
      'key_1',
    );
  for (let i = 0; i < 8; i++) reject('203.0.113.1', 0);
  assert.equal(lines.length, 5);
  assert.deepEqual(lines[0], {
    address: '203.0.113.1',
    method: 'GET',
    route: '/v1/risks',
    key: 'key_1',
    reason: 'That key has expired.',
    left_out: undefined,
  });
  for (let i = 0; i < 100; i++) reject(`203.0.113.${i + 100}`, 1);
  assert.equal(lines.length, 60);
  assert.equal(lines[5]?.left_out, 3);
  reject('203.0.113.1', 120);
  assert.deepEqual([lines.length, lines[60]?.left_out], [61, 45]);
});
