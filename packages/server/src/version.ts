import { readFileSync } from 'node:fs';

/** The version of this package. package.json lies one folder above, for sources and build alike. */
export function packageVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  const { version }: { version: string } = JSON.parse(text);
  return version;
}
