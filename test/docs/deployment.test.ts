import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { VARIABLES } from '../../packages/server/src/environment/variables.ts';

const root = join(import.meta.dirname, '../..');
const known = new Set(VARIABLES.map(({ name }) => name));

describe('deploy/compose.yaml', () => {
  it('sets only variables that the server reads', () => {
    const file = readFileSync(join(root, 'deploy/compose.yaml'), 'utf8');
    const [, settings = ''] = /^ {2}questline:[\s\S]*?environment:\n((?: {6}.*\n)+)/m.exec(file) ?? [];
    const names = [...settings.matchAll(/^ {6}(\w+):/gm)].map(([, name = '']) => name);
    expect(names.length).toBeGreaterThan(10);
    expect(names.filter((name) => !known.has(name))).toEqual([]);
  });
});
