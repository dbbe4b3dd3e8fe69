import { startCaddyExample } from '../../caddy.ts';
import { startHaproxy } from '../../haproxy.ts';
import { startNginxExample } from '../../nginx.ts';
import type { Options, Scenario } from '../outcome.ts';
import type { Engine } from '../service.ts';
import { fillAndFree, turnReadOnly } from './disk.ts';
import { followEvents } from './events.ts';
import { failOverRepeatedly } from './failover.ts';
import { replaceRepeatedly } from './file-replaced.ts';
import { checkFreshness } from './freshness.ts';
import { raceHandovers } from './handover.ts';
import { attackRepeatedly } from './hostile-input.ts';
import { restartBehind, restartInTurn } from './instances.ts';
import { killRepeatedly } from './kill.ts';
import { writeEvents } from './many-webhooks.ts';
import { writeMixed } from './mixed-writers.ts';
import { freezeAndThaw } from './postgres-frozen.ts';
import { killBackends, killPostmaster } from './postgres-killed.ts';
import { soakForMinutes } from './soak.ts';
import { attackInTurn, attackWithSmallFrames } from './unread.ts';
import { writeBesideSlowReader } from './wal-bound.ts';

const scenario = (
  name: string,
  maxMinutes: number,
  run: Scenario['run'],
  { isInQuickRun = true } = {},
): Scenario => ({ name, maxMinutes, isInQuickRun, run });

/** The same scenario on each engine. The quick run may include only that on SQLite. */
const onBothEngines = (
  name: string,
  maxMinutes: number,
  run: (options: Options, engine: Engine) => Promise<void>,
  onPostgres = {},
): Scenario[] => [
  scenario(`${name}-sqlite`, maxMinutes, (options) => run(options, 'sqlite')),
  scenario(`${name}-postgres`, maxMinutes, (options) => run(options, 'postgres'), onPostgres),
];

const onlyInFullRun = { isInQuickRun: false };

export const scenarios: readonly Scenario[] = [
  ...onBothEngines('kill', 45, killRepeatedly),
  scenario('backend-kill', 20, killBackends),
  scenario('postmaster-kill', 20, killPostmaster),
  scenario('freeze', 10, freezeAndThaw),
  scenario('failover', 30, failOverRepeatedly),
  scenario('disk-full', 10, fillAndFree),
  scenario('disk-read-only', 10, turnReadOnly),
  scenario('file-replaced', 15, replaceRepeatedly),
  scenario('wal-bound', 15, writeBesideSlowReader),
  ...onBothEngines('freshness', 30, checkFreshness),
  scenario('instances', 180, restartInTurn),
  scenario('instances-haproxy', 180, restartBehind('haproxy', startHaproxy), onlyInFullRun),
  scenario('instances-nginx', 180, restartBehind('nginx', startNginxExample), onlyInFullRun),
  ...(
    [
      ['haproxy', startHaproxy],
      ['nginx', startNginxExample],
      ['caddy', startCaddyExample],
    ] as const
  ).map(([name, start]) =>
    scenario(`rolling-${name}`, 30, restartBehind(name, start, { isRolling: true }), onlyInFullRun),
  ),
  ...onBothEngines('handover', 20, raceHandovers),
  scenario('mixed-writers-postgres', 60, writeMixed),
  ...onBothEngines('events', 30, followEvents),
  ...onBothEngines('hostile-input', 30, attackRepeatedly, onlyInFullRun),
  ...onBothEngines('unread', 15, attackInTurn, onlyInFullRun),
  scenario('unread-mtu-1500', 15, attackWithSmallFrames, onlyInFullRun),
  ...onBothEngines('many-webhooks', 10, writeEvents, onlyInFullRun),
  scenario('soak', 180, soakForMinutes, onlyInFullRun),
];
