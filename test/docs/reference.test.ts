import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createReference } from '../../scripts/reference.ts';

it.each(Object.entries(createReference()))('%s is up to date with `npm run reference`', (page, text) => {
  expect(readFileSync(join(import.meta.dirname, '../..', page), 'utf8')).toBe(text);
});

it('describes every option', () => {
  const page = createReference()['docs/reference/options.md'] ?? '';
  const rows = page.split('\n').filter((line) => line.startsWith('| `'));
  expect(rows.length).toBeGreaterThan(60);
  expect(rows.filter((row) => /\|\s*\|$/.test(row))).toEqual([]);
});
