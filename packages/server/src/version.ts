import { readFileSync } from 'node:fs';

/** The version of this package. Its file lies one folder above, beside sources and build alike. */
export function packageVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  const { version }: { version: string } = JSON.parse(text);
  return version;
}
