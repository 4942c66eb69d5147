import { glob, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** The source files of a folder, relative to the repository, without tests and type declarations. */
export async function listSources(root: string, folder: string): Promise<readonly string[]> {
  if ((await stat(join(root, folder))).isFile()) return [folder];
  const files: string[] = [];
  for await (const file of glob(`${folder}/**/*.ts`, { cwd: root })) {
    if (!/(?:\.test|\.d)\.ts$/.test(file)) files.push(file);
  }
  return files.sort();
}
