import { describe, expect, it } from 'vitest';
import { EICAR } from '../../../../../../test/support/samples.ts';
import { makeFile } from '../../../../test/checked-file.ts';
import { createLocalModerator } from './local.ts';
import { findTestVirus } from './signatures.ts';
import { createModerators } from './verdicts.ts';

const FOUND = 'the EICAR test file';

describe('the test file for virus scanners', () => {
  it.each([1, 3, 30, 67, 68, 69, 200])('is found in pieces of %i bytes', async (piece) => {
    for (const before of [0, 1, 40, 67, 68, 100]) {
      const content = `${'x'.repeat(before)}${EICAR}${'y'.repeat(30)}`;
      expect(await findTestVirus(makeFile(content, 'text/plain', piece), {})).toBe(FOUND);
      const other = `${'x'.repeat(before)}${EICAR.slice(0, 67)}${'y'.repeat(30)}`;
      expect(await findTestVirus(makeFile(other, 'text/plain', piece), {})).toBeUndefined();
    }
  });

  it('is looked for until the signal', async () => {
    const signal = AbortSignal.abort(new Error('stopped'));
    await expect(findTestVirus(makeFile('hello', 'text/plain'), { signal })).rejects.toThrow('stopped');
  });
});

describe('the moderator of this process', () => {
  const local = createLocalModerator();

  it('finds files clean, or says why not', async () => {
    expect(await local.check(makeFile('hello', 'text/plain'))).toEqual({ isClean: true });
    expect(await local.check(makeFile(EICAR, 'text/plain'))).toEqual({ isClean: false, reason: FOUND });
  });

  it('ends with its signal', async () => {
    const signal = AbortSignal.abort(new Error('stopped'));
    const file = makeFile('hello', 'text/plain');
    await expect(local.check(file, { signal })).rejects.toThrow('stopped');
    expect(file.reads).toEqual([]);
  });
});

it('asks moderators one after the other, until one finds harm', async () => {
  const asked: unknown[] = [];
  const moderate = (isClean: boolean, name: string) => ({
    async check(...given: unknown[]) {
      asked.push(name, given[1]);
      return isClean ? { isClean } : { isClean, reason: name };
    },
  });
  const file = makeFile('hello', 'text/plain');
  const options = { signal: new AbortController().signal };
  const both = createModerators([moderate(true, 'a'), moderate(false, 'b'), moderate(true, 'c')]);
  expect(await both.check(file, options)).toEqual({ isClean: false, reason: 'b' });
  expect(asked).toEqual(['a', options, 'b', options]);
  expect(await createModerators([moderate(true, 'a')]).check(file)).toEqual({ isClean: true });
});
