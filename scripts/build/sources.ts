import { readdir } from 'node:fs/promises';

/** Lists the sources of a package without extension, such as `app/api`; tests are not part of a build. */
export async function listSources(src: string): Promise<string[]> {
  const entries = await readdir(src, { recursive: true });
  return entries
    .filter((file) => /(?<!\.test|\.test-d)\.ts$/.test(file))
    .map((file) => file.replace(/\.ts$/, ''))
    .sort();
}
