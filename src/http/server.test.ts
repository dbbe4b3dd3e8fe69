import assert from 'node:assert/strict';
import { test } from 'node:test';
import { streamLimits } from '../database/postgres/engine.ts';
import { createServer } from './server.ts';

test('a list that the database does not return in time is rejected before its idle connection is closed', () => {
  const { connectMs, responseMs } = streamLimits;
  assert.ok(connectMs + responseMs < createServer().timeout);
});
