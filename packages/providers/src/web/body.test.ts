import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { readBeginning, readWhole } from './body.ts';

const answer = (...chunks: readonly string[]) =>
  ({ body: Readable.from(chunks.map((chunk) => Buffer.from(chunk))), headers: {} }) as unknown as Parameters<
    typeof readWhole
  >[0];

describe('the body of an answer', () => {
  it('is whole up to its limit', async () => {
    expect(Buffer.from(await readWhole(answer('ab', 'cd'), 4)).toString()).toBe('abcd');
    await expect(readWhole(answer('abcd', 'e'), 4)).rejects.toMatchObject({
      ...{ kind: 'INVALID_INPUT', message: 'url: the file is larger than 4 bytes.' },
    });
  });

  it('is read a little further than its beginning', async () => {
    expect(Buffer.from(await readBeginning(answer('ab', 'cd', 'ef', 'gh'), 3)).toString()).toBe('abcd');
  });
});
