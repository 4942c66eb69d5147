import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';

export const root = join(import.meta.dirname, '..');

interface Package {
  name: string;
  folder: string;
}

const packages: Package[] = readdirSync(join(root, 'packages'))
  .map((name) => ({ name, folder: join(root, 'packages', name) }))
  .filter(({ folder }) => existsSync(join(folder, 'package.json')));

/**
 * Runs `work` for every package, a few in parallel; the first failure ends the process after all have been
 * tried.
 */
export async function eachPackage(work: (found: Package) => Promise<void>): Promise<void> {
  const waiting = [...packages];
  let failed = 0;
  const lane = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      try {
        await work(next);
      } catch (error) {
        failed += 1;
        console.error(`${next.name}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(4, availableParallelism()) }, lane));
  if (failed > 0) process.exit(1);
}

/** Runs a tool of the workspace, or one at a path, and prints its output only if it fails. */
export async function run(tool: string, args: string[], cwd: string): Promise<void> {
  const child = spawn(resolve(root, 'node_modules/.bin', tool), args, {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const code = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
  if (code !== 0) throw new Error(`${tool} ended with ${code}\n${output}`);
}
