import { describe, expect, it } from 'vitest';
import { ID, MADE, moderator, send, setUp } from '../../../test/file-library.ts';
import type { GeneratedFile } from './library.ts';

const HELLO = Buffer.from('hello');

describe('a generated file', () => {
  it('is clean from the start', async () => {
    const { clock, files, objects, keys, library, countBytes, lease } = setUp({ moderator });
    const { file } = await library.save('ada', MADE);
    const about = { name: 'a.txt', mimeType: 'text/plain', size: 5, status: 'clean', source: 'generated' };
    const objectKey = expect.stringMatching(/^files\/f{24}\/[0-9a-f]{16}$/) as unknown as string;
    const times = { createdAt: clock.now() };
    expect(file).toEqual({ id: ID, ownerId: 'ada', ...about, ...times, objectKey });
    expect(await files.get(ID)).toEqual(file);
    expect([...keys]).toEqual([file?.objectKey]);
    expect(await objects.head(file?.objectKey ?? '')).toMatchObject({ contentType: 'text/plain' });
    expect([await countBytes(), await lease()]).toEqual([5, []]);
  });

  it('is checked first if it is moderated', async () => {
    const { files, keys, library, lease } = setUp({ moderator });
    const { file } = await library.save('ada', { ...MADE, isModerated: true, source: 'upload' });
    expect(file).toMatchObject({ status: 'scanning', source: 'upload' });
    expect(file?.objectKey).toBeUndefined();
    expect([...keys]).toEqual([`uploads/${ID}`]);
    expect(await lease()).toMatchObject([{ key: `scan:${ID}` }]);
    await library.save('ada', { ...MADE, isModerated: true });
    expect([await lease(), await files.count({})]).toMatchObject([[{ key: `scan:${ID}` }], 1]);
    expect([...keys]).toEqual([`uploads/${ID}`]);
  });

  it('is clean without a moderator', async () => {
    const { library } = setUp();
    expect((await library.save('ada', { ...MADE, isModerated: true })).file).toMatchObject({
      status: 'clean',
    });
  });

  it('of another user with the same id is an error, and is kept', async () => {
    const { keys, library, countBytes } = setUp();
    const { file } = await library.save('bob', MADE);
    expect(await library.save('ada', MADE)).toEqual({ skipped: 'error' });
    expect([...keys]).toEqual([file?.objectKey]);
    expect(await countBytes()).toBe(0);
  });

  it('has at most the largest size, also in pieces', async () => {
    const { keys, library } = setUp();
    const save = (content: GeneratedFile['content']) => library.save('ada', { ...MADE, content });
    expect(await save(new Uint8Array(11))).toEqual({ skipped: 'file_too_large' });
    expect(await save(send(5, 6))).toEqual({ skipped: 'file_too_large' });
    expect(keys.size).toBe(0);
    expect((await save(send(5, 5))).file).toMatchObject({ size: 10 });
  });

  it('of the largest size may come at once, under a new id', async () => {
    const { library } = setUp();
    const { id: _, ...made } = MADE;
    const [one, two] = [
      await library.save('ada', { ...made, content: new Uint8Array(10) }),
      await library.save('ada', made),
    ];
    expect(one.file?.size).toBe(10);
    expect(one.file?.id).not.toBe(two.file?.id);
  });

  it('without bytes is an error, other than an upload', async () => {
    const { keys, library, incidents } = setUp();
    expect(await library.save('ada', { ...MADE, content: send() })).toEqual({ skipped: 'error' });
    expect(incidents).toMatchObject([{ operation: 'files.save', requestId: '' }]);
    expect(String(incidents[0]?.error)).toContain('the generated file has no bytes');
    expect(keys.size).toBe(0);
    expect((await library.save('ada', { ...MADE, content: send(), source: 'upload' })).file?.size).toBe(0);
  });

  it('is skipped if there is no room', async () => {
    const { files, keys, library } = setUp({ quota: 4, moderator });
    expect(await library.save('ada', MADE)).toEqual({ skipped: 'storage_limit' });
    expect(await library.save('ada', { ...MADE, isModerated: true })).toEqual({ skipped: 'storage_limit' });
    expect([await files.count({}), keys.size]).toEqual([0, 0]);
  });

  it('that another worker has stored stays, if this one fails', async () => {
    let isKnown = true;
    const { keys, library } = setUp({
      moderator,
      files: (records) => ({
        get: (id, guard) =>
          isKnown || guard === undefined ? records.get(id, guard) : Promise.resolve(undefined),
      }),
    });
    await library.save('ada', { ...MADE, isModerated: true });
    isKnown = false;
    async function* broken() {
      yield HELLO;
      throw new Error('away');
    }
    const again = { ...MADE, isModerated: true, content: broken() };
    expect(await library.save('ada', again)).toEqual({ skipped: 'error' });
    expect([...keys]).toEqual([`uploads/${ID}`]);
  });

  it('rejects with the reason of its signal only', async () => {
    const { library, incidents } = setUp();
    const signal = AbortSignal.abort(new Error('stopped'));
    await expect(library.save('ada', MADE, { signal })).rejects.toThrow('stopped');
    expect(incidents).toEqual([]);
  });

  it.each([
    ['clean', null],
    ['moderated', moderator],
  ])('that two workers save at once has the bytes of one (%s)', async (_, given) => {
    let looks = 0;
    const { files, keys, library, countBytes } = setUp({
      moderator: given,
      files: (records) => ({
        async get(...asked) {
          looks += 1;
          // Neither finds it at first.
          return looks <= 2 ? undefined : records.get(...asked);
        },
      }),
    });
    const saved = await Promise.all([1, 2].map(() => library.save('ada', { ...MADE, isModerated: true })));
    expect(saved[0]?.file).toEqual(saved[1]?.file);
    expect([await files.count({}), await countBytes(), keys.size]).toEqual([1, 5, 1]);
  });
});
