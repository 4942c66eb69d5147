import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { buildChildren } from './build.ts';

const ROOT = join(import.meta.dirname, '../../..');
const CACHE = join(ROOT, 'node_modules/.cache');

/*
 * Tests start several hundred Node processes. They share joined modules and a cache of their compiled code.
 * A process writes the cache at its end; processes that tests kill never do, so a process that ends normally
 * fills it first.
 */
export async function setup(): Promise<void> {
  process.env.NODE_COMPILE_CACHE ??= join(CACHE, 'questline-compile');
  const folder = join(CACHE, 'questline-children');
  const chunks = (await buildChildren(ROOT, folder)).filter((path) => path.includes('/chunks/'));
  process.env.QUESTLINE_TEST_CHILDREN = folder;
  if (chunks.length === 0) return;
  const load = chunks.map((path) => `import ${JSON.stringify(path)};`).join('');
  spawnSync(process.execPath, ['--input-type=module', '--eval', load], { cwd: ROOT, stdio: 'ignore' });
}
