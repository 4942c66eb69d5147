import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

interface Report {
  readonly before: unknown;
  readonly after: unknown;
  readonly answers: { readonly own: [number, string][]; readonly foreign: [number, string][] };
  readonly closedAt: number;
}

describe('library in a host process', () => {
  it('shares nothing between instances, changes nothing global and lets the process end after close()', async () => {
    const child = join(import.meta.dirname, 'guest.child.ts');
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--conditions=@questline/source', child],
      {
        timeout: 25_000,
      },
    );
    const endedAt = Date.now();
    const { before, after, answers, closedAt } = JSON.parse(stdout) as Report;
    expect(after).toEqual(before);
    expect(answers.own).toEqual([
      [200, expect.stringContaining('data: [DONE]')],
      [200, expect.stringContaining('data: [DONE]')],
    ]);
    // A key of one instance is unknown to the other.
    expect(answers.foreign.map(([status]) => status)).toEqual([401, 401]);
    expect(endedAt - closedAt).toBeLessThan(1000);
  });
});
