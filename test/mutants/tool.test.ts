import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readDiff } from '../../scripts/mutants/changed-lines.ts';
import { readLeft, toKey, writeLeft } from '../../scripts/mutants/left.ts';
import { formatReport } from '../../scripts/mutants/report.ts';
import { listMutants, run } from '../../scripts/mutants/run.ts';
import { createTypeCheck } from '../../scripts/mutants/types.ts';

const root = join(import.meta.dirname, '../..');

test('a quick run finds a change that hangs and one that ends its process, and does not count changes of modules that load', async () => {
  const file = 'test/mutants/example.ts';
  const result = await run({ root, files: [file], tests: ['test/mutants/example.test.ts'], isQuick: true });
  expect(formatReport(result, []).lines).toEqual([
    `${file}:7  bound  value < LIMIT -> value <= LIMIT`,
    `${file}:13  bound  value > 0 -> value >= 0`,
    `${file}:19  statement  without process.kill(process.pid, 'SIGKILL');  (no test comes by)`,
    `${file}:23  boolean  true -> false  (no test comes by)`,
    `${file}:29  property  without text: String(value)  (no test comes by)`,
    ` 38 %  8 changes, 3 found, 0 accepted, 5 left  ${file}`,
    ' 38 %  8 changes, 3 found, 0 accepted, 5 left  in all',
    '1 changes of modules that load were not tried',
  ]);
});

test('a run goes on after changes that stop the process, or disturb the next test, when their test has found them', async () => {
  const result = await run({
    ...{ root, files: ['test/mutants/endless.ts'], tests: ['test/mutants/endless.test.ts'], isQuick: true },
    stalledMs: { changed: 10_000, unchanged: 10_000 },
  });
  const found = result.mutants.filter(({ id }) => result.killed.has(id));
  expect(found.map(({ line, before, after }) => [line, before, after])).toEqual([
    [7, 'false', 'true'],
    [17, 'false', 'true'],
    [17, 'isEndless: false', ''],
    [36, 'false', 'true'],
    [41, '1', '2'],
  ]);
});

test('the check of types refuses only changes that do not compile', async () => {
  const compiles = createTypeCheck(root);
  const mutants = await listMutants(root, ['test/mutants/example.ts']);
  const wrong = mutants.filter((mutant) => !compiles(mutant));
  expect(mutants.length).toBeGreaterThan(wrong.length);
  expect(wrong.map(({ line, kind }) => [line, kind])).toEqual([[29, 'property']]);
});

test('the changed lines are those that a diff adds, without those that it only removes', () => {
  const diff = [
    ...['diff --git a/packages/a/src/a.ts b/packages/a/src/a.ts', '--- a/packages/a/src/a.ts'],
    ...['+++ b/packages/a/src/a.ts', '@@ -3 +3 @@ function first() {', '-before', '+after'],
    ...['@@ -9,0 +10,2 @@', '+one', '+two', '@@ -20,2 +22,0 @@', '-@@ -1 +1 @@', '-gone'],
    ...['diff --git a/packages/b/src/b.ts b/packages/b/src/b.ts', 'new file mode 100644', '--- /dev/null'],
    ...['+++ b/packages/b/src/b.ts', '@@ -0,0 +1,3 @@', '+a', '+b', '+c', ''],
  ].join('\n');
  expect(readDiff(diff)).toEqual(
    new Map([
      ['packages/a/src/a.ts', new Set([3, 10, 11])],
      ['packages/b/src/b.ts', new Set([1, 2, 3])],
    ]),
  );
});

test('a run goes on with what the run before has left', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'questline-left-'));
  const path = join(folder, 'left.json');
  try {
    const [first, second, third] = await listMutants(root, ['test/mutants/example.ts']);
    if (first === undefined || second === undefined || third === undefined) throw new Error('no changes');
    // A line may have the same change twice.
    expect(toKey({ ...first, start: first.start + 1 })).not.toBe(toKey(first));
    const nothing = { unreached: new Set<number>(), unusable: new Set<string>() };
    const all = [first, second, third];
    const about = { path, root, files: ['test/mutants/example.ts'] };
    const read = (files = about.files) => readLeft(path, root, files);
    expect(read()).toBeUndefined();
    const one = { ...nothing, mutants: all, killed: new Set([first.id]), untried: new Set([third.id]) };
    expect(await writeLeft(about, undefined, all, one)).toEqual(one);

    const former = read();
    expect(all.map((mutant) => former?.has(toKey(mutant)))).toEqual([false, true, true]);
    const other = {
      ...nothing,
      mutants: [second, third],
      killed: new Set([second.id]),
      untried: new Set<number>(),
    };
    const both = { ...other, mutants: all, killed: new Set([first.id, second.id]) };
    expect(await writeLeft(about, former, all, other)).toEqual(both);
    expect([...(read() ?? [])]).toEqual([[toKey(third), 'left']]);

    // Changes of files that the run before did not try are not found.
    expect(() => read([...about.files, 'test/mutants/endless.ts'])).toThrow('test/mutants/endless.ts');
    expect(() => read(['test/mutants/endless.ts'])).toThrow('delete it');
  } finally {
    await rm(folder, { recursive: true });
  }
});
