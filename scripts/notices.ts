import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

interface Metafile {
  readonly inputs: Readonly<Record<string, unknown>>;
}

/**
 * Writes the license texts of every package in a bundle, and deletes its metafile. @throws Error for a
 * package without a license text.
 */
export async function writeNotices(metafile: string, notices: string): Promise<void> {
  const { inputs } = JSON.parse(await readFile(metafile, 'utf8')) as Metafile;
  const folders = new Set(
    Object.keys(inputs).flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []),
  );
  const texts = await Promise.all([...folders].sort().map((folder) => readNotice(resolve(folder))));
  await writeFile(notices, texts.join(`\n${'='.repeat(78)}\n\n`));
  await rm(metafile);
}

async function readNotice(folder: string): Promise<string> {
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
  if (file === undefined) throw new Error(`${name} has no license text`);
  return `${name} ${version} (${license})\n\n${await readFile(join(folder, file), 'utf8')}`;
}
