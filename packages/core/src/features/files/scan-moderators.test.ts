import { describe, expect, it } from 'vitest';
import { ID, setUp } from '../../../test/upload-scan.ts';
import type { Moderator, Verdict } from '../../ports/moderator.ts';

const BLOCKED = { status: 'blocked', bytes: 0, keys: [] };
const failing: Moderator = { check: () => Promise.reject(new Error('away')) };
const deciding = (verdict: Verdict): Moderator => ({ check: async () => verdict });

describe('a moderator', () => {
  it('blocks a file once, with its bytes', async () => {
    const { files, run, read, reported } = await setUp({
      moderator: deciding({ isClean: false, reason: 'no' }),
    });
    await run();
    expect(await read()).toEqual(BLOCKED);
    expect((await files.get(ID))?.objectKey).toBeUndefined();
    expect(reported()).toEqual([['files.blocked', `the file ${ID} was blocked: no`]]);
    expect(await run(2)).toBeUndefined();
    expect(await read()).toEqual(BLOCKED);
  });

  it('that fails three times blocks a file; the pauses grow', async () => {
    const { run, read, reported } = await setUp({ moderator: failing });
    expect(await run(1)).toEqual({ afterMs: 2000, countAttempt: false });
    expect(await run(2)).toEqual({ afterMs: 4000, countAttempt: false });
    expect(await read()).toEqual({ status: 'scanning', bytes: 5, keys: [`uploads/${ID}`] });
    expect(await run(3)).toBeUndefined();
    expect(await read()).toEqual(BLOCKED);
    expect(reported()).toEqual(Array(3).fill(['job:files.scan', 'away']));
  });

  it('that is interrupted has not failed, and its copy is deleted', async () => {
    const stop = new AbortController();
    const check: Moderator['check'] = async () => {
      stop.abort(new Error('shut down'));
      throw new Error('interrupted');
    };
    const { files, run, read, reported } = await setUp({ moderator: { check } });
    await expect(run(1, stop.signal)).rejects.toThrow('interrupted');
    expect(await read()).toEqual({ status: 'scanning', bytes: 5, keys: [`uploads/${ID}`] });
    expect((await files.get(ID))?.failures).toBeUndefined();
    expect(reported()).toEqual([]);
  });

  it.each([
    ['clean', deciding({ isClean: true })],
    ['blocked', deciding({ isClean: false, reason: 'no' })],
    ['failing', failing],
  ])('decides nothing about a file that another run has decided: %s', async (_, { check }) => {
    const { files, run, read } = await setUp({
      moderator: {
        async check(...given) {
          await files.update(ID, { status: 'blocked' });
          return check(...given);
        },
      },
    });
    expect(await run()).toBeUndefined();
    expect(await read()).toEqual({ status: 'blocked', bytes: 5, keys: [] });
  });

  it('decides nothing about a file that is deleted meanwhile', async () => {
    const { files, run, read } = await setUp({
      moderator: {
        async check() {
          await files.take(ID);
          throw new Error('away');
        },
      },
    });
    expect(await run()).toBeUndefined();
    expect(await read()).toEqual({ status: undefined, bytes: 5, keys: [] });
  });
});
