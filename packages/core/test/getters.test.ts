import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
const PACKAGES = ['core', 'openai', 'anthropic', 'mcp-server', 'realtime'];
/** Calls of tools take seconds; the schema of a tool refers to nothing of a service. */
const KNOWN = ['core/src/features/completions/server-tools/rounds.ts', 'core/src/tools/tool.ts'];

function* findGetters(name: string): Generator<string> {
  const folder = join(ROOT, 'packages', name, 'src');
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.ts') || entry.name.endsWith('.test.ts')) continue;
    const path = join(entry.parentPath, entry.name);
    const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
    const found: ts.Node[] = [];
    const visit = (node: ts.Node): void => {
      if (ts.isAccessor(node) && ts.isObjectLiteralExpression(node.parent)) found.push(node);
      ts.forEachChild(node, visit);
    };
    visit(source);
    if (found.length > 0) yield relative(join(ROOT, 'packages'), path);
  }
}

// V8 keeps all that such a getter refers to until the next major collection: docs/decisions/getters.md.
it('objects of a call have no getters', () => {
  expect(PACKAGES.flatMap((name) => [...findGetters(name)]).sort()).toEqual(KNOWN);
});
