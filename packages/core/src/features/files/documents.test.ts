import { describe, expect, it } from 'vitest';
import { settle } from '../../../test/delayed.ts';
import { ADA, type Extract, ID, setUp } from '../../../test/document-reader.ts';
import { ExtractionError, type ExtractionErrorKind } from '../../ports/text-extractor.ts';

const fail =
  (error: unknown): Extract =>
  async () => {
    throw error;
  };
const LIMIT = new ExtractionError('limit', 'it is too deep');
const NONE = { readAttempts: undefined, readRefusal: undefined };

describe('the text of a document', () => {
  it('is read with its tags by the first extractor of the type', async () => {
    const { read, calls, attempts } = await setUp(async () => ({ text: 'read', tags: ['a'] }));
    expect(await read()).toEqual({ status: 'read', text: 'read', tags: ['a'] });
    expect(calls).toEqual([['bytes', { mimeType: 'text/x', name: 'a.x' }, 'ada']]);
    expect(await attempts()).toEqual(NONE);
    expect(await (await setUp()).read()).toEqual({ status: 'read', text: 'read' });
  });

  it('is not read of unknown types and names', async () => {
    const { read, calls } = await setUp();
    expect(await read(ADA, { mimeType: 'text/y' })).toEqual({ status: 'unsupported' });
    expect(await read(ADA, { name: 'b.x' })).toEqual({ status: 'unsupported' });
    expect(calls).toEqual([]);
  });

  it('is gone with the file, or with its bytes', async () => {
    const { files, file, documents, calls, read, attempts } = await setUp();
    expect(await documents.read(file, async () => undefined, ADA)).toEqual({ status: 'gone' });
    expect(await attempts()).toEqual(NONE);
    await files.take(ID);
    expect(await read()).toEqual({ status: 'gone' });
    expect(calls).toEqual([]);
  });

  it.each([
    ['broken', new TypeError('no'), 'unreadable', NONE],
    ['damaged', new ExtractionError('unreadable', 'no'), 'unreadable', NONE],
    ['unavailable', new ExtractionError('unavailable', 'no'), 'unavailable', { ...NONE, readAttempts: 0 }],
    ['odd', new ExtractionError('locked' as ExtractionErrorKind, 'no'), 'unreadable', NONE],
  ] as const)('is absent if it is %s', async (_, cause, status, left) => {
    const { read, attempts } = await setUp(fail(cause));
    expect(await read()).toEqual({ status, cause });
    expect(await attempts()).toEqual(left);
  });
});

it('counts no attempt less than none', async () => {
  const { files, read, attempts } = await setUp(async () => {
    await files.update(ID, { readAttempts: 0 });
    throw new ExtractionError('unavailable', 'no');
  });
  await read();
  expect(await attempts()).toEqual({ ...NONE, readAttempts: 0 });
});

describe('a document beyond a limit', () => {
  it('is tried three times, and then refused for the same reason', async () => {
    const { read, calls, attempts } = await setUp(fail(LIMIT));
    const refused = { status: 'refused', reason: 'it is too deep' };
    for (let time = 1; time <= 3; time += 1) {
      expect(await read()).toEqual({ ...refused, cause: LIMIT });
      expect(await attempts()).toEqual({ readAttempts: time, readRefusal: 'it is too deep' });
    }
    expect(await read()).toEqual(refused);
    expect(calls).toHaveLength(3);
  });

  it('that never ended is refused with the number of attempts', async () => {
    const { read } = await setUp(undefined, { readAttempts: 3 });
    const reason = 'reading it was begun 3 times and never ended';
    expect(await read()).toEqual({ status: 'refused', reason });
  });

  it('forgets its attempts when it is read', async () => {
    const { read, attempts } = await setUp(undefined, { readAttempts: 2, readRefusal: 'it is too deep' });
    expect(await read()).toMatchObject({ status: 'read' });
    expect(await attempts()).toEqual(NONE);
  });

  it('is refused after a time, even if the extractor goes on', async () => {
    let own: AbortSignal | undefined;
    const { clock, read } = await setUp((_bytes, _type, options) => {
      own = options?.signal;
      return new Promise(() => undefined);
    });
    const reading = read();
    await settle();
    await clock.advance(5000);
    expect(await reading).toMatchObject({ status: 'refused', reason: 'it takes longer than 5 s to read' });
    expect(own?.aborted).toBe(true);
  });
});

describe('an interrupted document', () => {
  it('rejects with the reason, and counts no attempt', async () => {
    const stop = new AbortController();
    const { read, attempts } = await setUp(async () => {
      expect(await attempts()).toEqual({ ...NONE, readAttempts: 1 });
      stop.abort(new Error('stopped'));
      throw LIMIT;
    });
    await expect(read({ ...ADA, signal: stop.signal })).rejects.toThrow('stopped');
    expect(await attempts()).toEqual({ ...NONE, readAttempts: 0 });
  });

  it('counts no attempt if its bytes cannot be loaded', async () => {
    const { documents, file, attempts } = await setUp();
    const given: unknown[] = [];
    const { signal } = new AbortController();
    const load = (options: unknown) => {
      given.push(options);
      return Promise.reject(new Error('away'));
    };
    await expect(documents.read(file, load, { ...ADA, signal })).rejects.toThrow('away');
    await expect(documents.read(file, load, ADA)).rejects.toThrow('away');
    expect(given).toEqual([{ signal }, {}]);
    expect(await attempts()).toEqual({ ...NONE, readAttempts: 0 });
  });
});
