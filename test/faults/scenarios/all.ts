import type { Scenario } from '../outcome.ts';
import { diskFull, diskReadOnly } from './disk.ts';
import { eventsPostgres, eventsSqlite } from './events.ts';
import { failover } from './failover.ts';
import { fileReplaced } from './file-replaced.ts';
import { freshnessPostgres, freshnessSqlite } from './freshness.ts';
import { handoverPostgres, handoverSqlite } from './handover.ts';
import { hostileInputPostgres, hostileInputSqlite } from './hostile-input.ts';
import { instances, instancesHaproxy, instancesNginx } from './instances.ts';
import { killPostgres, killSqlite } from './kill.ts';
import { manyWebhooksPostgres, manyWebhooksSqlite } from './many-webhooks.ts';
import { mixedWritersPostgres } from './mixed-writers.ts';
import { freeze } from './postgres-frozen.ts';
import { backendKill, postmasterKill } from './postgres-killed.ts';
import { soak } from './soak.ts';
import { unreadPostgres, unreadSmallFrames, unreadSqlite } from './unread.ts';
import { walBound } from './wal-bound.ts';

export const scenarios: readonly Scenario[] = [
  killSqlite,
  killPostgres,
  backendKill,
  postmasterKill,
  freeze,
  failover,
  diskFull,
  diskReadOnly,
  fileReplaced,
  walBound,
  freshnessSqlite,
  freshnessPostgres,
  instances,
  instancesHaproxy,
  instancesNginx,
  handoverSqlite,
  handoverPostgres,
  mixedWritersPostgres,
  eventsSqlite,
  eventsPostgres,
  hostileInputSqlite,
  hostileInputPostgres,
  unreadSqlite,
  unreadPostgres,
  unreadSmallFrames,
  manyWebhooksSqlite,
  manyWebhooksPostgres,
  soak,
];
