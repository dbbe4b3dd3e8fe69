import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { startTestService, withKey } from '../../test/service.ts';
import { streamLimits } from '../database/postgres/engine.ts';
import { createServer } from './server.ts';

test('a list that the database does not return in time is rejected before its idle connection is closed', () => {
  const { connectMs, responseMs } = streamLimits;
  assert.ok(connectMs + responseMs < createServer().timeout);
});

test('a stop waits for a request in flight, however long it takes', async (t) => {
  const { service, key } = await withKey(startTestService(t, 'sqlite'));
  const { app } = service;
  const socket = connect(Number(new URL(service.origin).port), '127.0.0.1');
  t.after(() => socket.destroy());
  const body = JSON.stringify({ name: 'Crew' });
  socket.write(
    `POST /v1/groups HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\nconnection: close\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`,
  );
  while (app.load.inFlight === 0) await setImmediate();

  // The framework limits the time of its hooks to 10 s unless it is told not to.
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const closed = app.close().then(
    () => 'closed',
    (error: Error) => error.message,
  );
  for (let i = 0; i < 10; i++) await setImmediate();
  t.mock.timers.tick(25_000);
  t.mock.timers.reset();

  let received = '';
  socket.on('data', (chunk) => {
    received += chunk;
  });
  socket.write(body);
  assert.equal(await closed, 'closed');
  assert.match(received, /^HTTP\/1.1 201 /);
});
