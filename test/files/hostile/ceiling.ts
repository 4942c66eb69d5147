import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A memory limit for processes and their children, page cache included. */
export interface MemoryCeiling {
  /** Prefix of a shell command that puts the shell under the limit. */
  readonly enter: string;
  /** Peak memory in bytes. */
  peak(): number;
  /** Processes that the kernel killed at the limit. */
  kills(): number;
  /** Call it when no process is left. */
  remove(): void;
}

const ROOT = '/sys/fs/cgroup';

/** @returns undefined if memory control groups are not available: without root, or on another system. */
export function createCeiling(bytes: number): MemoryCeiling | undefined {
  const name = `questline-hostile-${process.pid}`;
  const isFirst = existsSync(join(ROOT, 'memory'));
  const folder = isFirst ? join(ROOT, 'memory', name) : join(ROOT, name);
  const files = isFirst
    ? { limit: 'memory.limit_in_bytes', peak: 'memory.max_usage_in_bytes', kills: 'memory.oom_control' }
    : { limit: 'memory.max', peak: 'memory.peak', kills: 'memory.events' };
  try {
    mkdirSync(folder);
    writeFileSync(join(folder, files.limit), String(bytes));
    if (!isFirst && existsSync(join(folder, 'memory.swap.max'))) {
      writeFileSync(join(folder, 'memory.swap.max'), '0');
    }
  } catch {
    return undefined;
  }
  return {
    enter: `echo $$ > ${join(folder, 'cgroup.procs')} && `,
    peak: () => Number(readFileSync(join(folder, files.peak), 'utf8')),
    kills: () => Number(/^oom_kill (\d+)$/m.exec(readFileSync(join(folder, files.kills), 'utf8'))?.[1] ?? 0),
    remove: () => rmdirSync(folder),
  };
}
