import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

export interface Example {
  /** The heading above the example. */
  readonly heading: string;
  readonly code: string;
}

/** The TypeScript examples of a page, in order. */
export function getExamples(page: string): Example[] {
  const examples: Example[] = [];
  let heading = '';
  for (const [, title, code] of readPage(page).matchAll(/^#+ (.+)$|^```ts\n([\s\S]*?)^```$/gm)) {
    if (title !== undefined) heading = title;
    if (code !== undefined) examples.push({ heading, code });
  }
  return examples;
}

function readPage(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8');
}

/** The table rows of a page, cell by cell. */
export function getRows(page: string): string[][] {
  return [...readPage(page).matchAll(/^\| (.+) \|$/gm)].map(([, cells = '']) =>
    cells.split('|').map((cell) => cell.trim()),
  );
}
