import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/*
 * Tests start several hundred Node processes. Compiling the sources takes half of their processor time, so
 * they share a cache of the compiled code. A process writes it at its end; processes that tests kill never
 * do, so a process that ends normally fills it first.
 */
export function setup(): void {
  const root = join(import.meta.dirname, '../..');
  const cache = join(root, 'node_modules/.cache/questline-compile');
  process.env.NODE_COMPILE_CACHE ??= cache;
  if (existsSync(cache)) return;
  const command = ['--conditions=@questline/source', 'packages/server/src/main.ts', '--help'];
  spawnSync(process.execPath, command, { cwd: root, stdio: 'ignore' });
}
