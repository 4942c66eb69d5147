import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';

const RUNNER = fileURLToPath(
  new URL('../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
);
const TIMED_OUT = /^TimeoutError: /m;
const ENTRY = /^ {2}- \S+ # .{20,}$/;

/**
 * Runs the conformance package of the Model Context Protocol with the scenarios that a revision requires. Fails for a
 * scenario that fails and is not in the baseline, and for one that is and passes.
 * @param baseline path of the file of expected failures; each needs a reason.
 */
export async function expectConformance(
  mode: 'client' | 'server',
  { revision, baseline, args }: { revision: string; baseline: string; args: readonly string[] },
): Promise<void> {
  const [head, ...entries] = (await readFile(baseline, 'utf8')).trimEnd().split('\n');
  expect(head).toBe(`${mode}:`);
  for (const entry of entries) expect(entry).toMatch(ENTRY);
  const results = await mkdtemp(join(tmpdir(), 'conformance-'));
  const all = [mode, ...args, '--requirements', revision, '--expected-failures', baseline];
  try {
    const whole = [...all, '--output-dir', results];
    const first = await run(whole);
    // All scenarios run at once: on a busy machine, requests may exceed their time limits.
    const { code, output } = first.code !== 0 && TIMED_OUT.test(first.output) ? await run(whole) : first;
    expect(code, output).toBe(0);
    expect(output).toMatch(/^✓/m);
  } finally {
    await rm(results, { recursive: true });
  }
}

function run(args: readonly string[]): Promise<{ code: unknown; output: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [RUNNER, ...args],
      { maxBuffer: 2 ** 26, env: { PATH: process.env.PATH, NO_COLOR: '1' } },
      (error, stdout, stderr) => resolve({ code: error?.code ?? 0, output: stdout + stderr }),
    );
  });
}
