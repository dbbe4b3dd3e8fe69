import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

export type Memory = { ready_mb: number; peak_mb: number };

/** Resident memory of a process, in MB. */
export const memoryOf = (pid: number) => readProcStatus(pid, 'VmRSS') ?? readPs(pid);

/** Peak resident memory since `resetPeak`, in MB. Without /proc: the current value. */
export const peakMemoryOf = (pid: number) => readProcStatus(pid, 'VmHWM') ?? readPs(pid);

export function resetPeak(pid: number): void {
  if (existsSync(`/proc/${pid}`)) writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

function readProcStatus(pid: number, name: string): number | undefined {
  const file = `/proc/${pid}/status`;
  if (!existsSync(file)) return undefined;
  const [, kilobytes] = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(file, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}

const readPs = (pid: number) =>
  Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1024;

/** CPU time of all threads of a process; the kernel counts it in hundredths of a second. */
export function cpuSecondsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
