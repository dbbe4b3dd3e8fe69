import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

export type Memory = { ready_mb: number; peak_mb: number };

/** What a process holds in memory now, in MB. */
export const memoryOf = (pid: number) => fromStatus(pid, 'VmRSS') ?? fromPs(pid);

/** The most it has held since `forgetPeak`. Without /proc there is no such record: what it holds now. */
export const peakMemoryOf = (pid: number) => fromStatus(pid, 'VmHWM') ?? fromPs(pid);

export function forgetPeak(pid: number): void {
  if (existsSync(`/proc/${pid}`)) writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

function fromStatus(pid: number, name: string): number | undefined {
  const file = `/proc/${pid}/status`;
  if (!existsSync(file)) return undefined;
  const [, kilobytes] = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(file, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}

const fromPs = (pid: number) =>
  Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1024;
