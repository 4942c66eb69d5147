import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

interface Report {
  readonly before: unknown;
  readonly after: unknown;
  readonly answers: { readonly own: [number, string][]; readonly foreign: [number, string][] };
  /** From `close()` until nothing kept the process alive. */
  readonly idleAfterMs: number;
}

describe('library in a host process', () => {
  it('shares nothing between instances, changes nothing global and lets the process end after close()', async () => {
    const child = join(import.meta.dirname, 'guest.child.ts');
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--conditions=@questline/source', child],
      // Only to end what hangs.
      { timeout: 100_000 },
    );
    const { before, after, answers, idleAfterMs } = JSON.parse(stdout) as Report;
    expect(after).toEqual(before);
    expect(answers.own).toEqual([
      [200, expect.stringContaining('data: [DONE]')],
      [200, expect.stringContaining('data: [DONE]')],
    ]);
    // A key of one instance is unknown to the other.
    expect(answers.foreign.map(([status]) => status)).toEqual([401, 401]);
    expect(idleAfterMs).toBeLessThan(1000);
  });
});
