import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { fillPeople } from '../../test/people.ts';
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

test('a list in HTTP/1.0 that breaks off ends with a reset, because its end would look like that of a whole one', async (t) => {
  const { service, key } = await withKey(startTestService(t, 'sqlite'));
  await fillPeople(service.database, 20_000);
  const request = `GET /v1/personnel HTTP/1.0\r\nauthorization: Bearer ${key}\r\n\r\n`;
  const read = (onStart: (socket: Socket) => void) =>
    new Promise<string>((resolve) => {
      let received = '';
      const socket = connect(Number(new URL(service.origin).port), '127.0.0.1', () => socket.write(request));
      socket.once('data', () => onStart(socket));
      socket.on('data', (chunk) => {
        received += chunk;
      });
      socket.on('error', (error) => resolve(String(error)));
      socket.on('end', () => resolve(received));
    });
  assert.match((await read(() => {})).slice(-300), /"total":20000/);
  const breakAll = () => {
    for (const reader of service.app.listSpool.readers) reader.fail(new Error('It breaks off.'));
  };
  assert.match((await read(breakAll)).slice(-300), /ECONNRESET/);
  assert.match((await read((socket) => socket.end())).slice(-300), /ECONNRESET|"total":20000/);
});
