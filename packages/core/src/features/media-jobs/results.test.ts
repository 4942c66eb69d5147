import { describe, expect, it } from 'vitest';
import { settle } from '../../../test/delayed.ts';
import { CHARGED, FREE, ID, openGeneration } from '../../../test/generations.ts';
import { FILES } from '../files/records.ts';
import { madeFileId } from './result-id.ts';

const MADE = { state: 'storing', step: 'made', result: 'x', providerJobId: 'job-1' } as const;
const open = (options: Parameters<typeof openGeneration>[0] = {}) =>
  openGeneration({ ...options, record: { ...MADE, ...options.record } });
const FILE = madeFileId(ID, 0);

describe('a result', () => {
  it('is stored as a file of its owner, and charged', async () => {
    const { run, get, calls, own, money, published } = await open();
    expect(await run()).toBeUndefined();
    const file = { id: FILE, mimeType: 'video/mp4' };
    const due = { amount: 8_000_000, usage: { seconds: 8, characters: 6, bytes: 5 } };
    expect(await get()).toMatchObject({ state: 'succeeded', step: 'kept', file, due, settled: 8_000_000 });
    expect(calls).toEqual([['fetch', 'x']]);
    const stored = await own.store.collection(FILES).get(FILE);
    expect(stored).toMatchObject({
      ownerId: 'ada',
      name: 'video-aaaaaa.mp4',
      mimeType: 'video/mp4',
      size: 5,
    });
    expect([await money(), published]).toEqual([CHARGED, [['ended', ID]]]);
    expect(await own.ledger.charges({ account: 'user:ada' }, 9)).toMatchObject([{ requestId: 'r' }]);
  });

  it('is checked like an upload', async () => {
    const saved: unknown[] = [];
    const { run } = await open({
      change: ({ library }) => ({
        library: {
          ...library,
          save(userId, made, options) {
            saved.push([userId, made.isModerated, options?.signal?.aborted]);
            return library.save(userId, made, options);
          },
        },
      }),
    });
    await run();
    expect(saved).toEqual([['ada', true, false]]);
  });

  it.each([
    ['video/quicktime', 'mov'],
    ['Video/WebM; codecs=vp9', 'webm'],
    ['text/html', 'mp4'],
    ['', 'mp4'],
  ])('of the type %j has the ending %s', async (mediaType, ending) => {
    const body = (async function* () {
      yield Buffer.from('hello');
    })();
    const { run, own } = await open({ jobs: { fetch: async () => ({ mediaType, body }) } });
    await run();
    expect((await own.store.collection(FILES).get(FILE))?.name).toBe(`video-aaaaaa.${ending}`);
  });

  it('of an unknown type has no ending', async () => {
    const body = (async function* () {
      yield Buffer.from('hello');
    })();
    const { run, own } = await open({ jobs: { fetch: async () => ({ mediaType: 'video/x-other', body }) } });
    await run();
    expect((await own.store.collection(FILES).get(FILE))?.name).toBe('video-aaaaaa');
  });

  it('that is stored is not fetched again', async () => {
    const { run, own, names, get, money } = await open();
    const about = {
      name: 'a',
      mimeType: 'video/webm',
      size: 7,
      status: 'clean',
      source: 'generated',
    } as const;
    await own.store.collection(FILES).insert({ id: FILE, ownerId: 'ada', createdAt: 0, ...about });
    await run();
    expect([names(), await money()]).toEqual([[], CHARGED]);
    expect(await get()).toMatchObject({
      file: { id: FILE, mimeType: 'video/webm' },
      due: { usage: { bytes: 7 } },
    });
  });

  it('that is stored is charged, if that was interrupted', async () => {
    const due = { amount: 3_000_000, usage: { seconds: 3 } };
    const { run, get, names, money } = await open({ record: { ...MADE, step: 'kept', due } });
    await run();
    expect([names(), (await get()).state, await money()]).toEqual([
      [],
      'succeeded',
      { charged: 3_000_000, held: 0 },
    ]);
  });

  it('is not the file of another user', async () => {
    const { run, own, names } = await open();
    const about = { name: 'a', mimeType: 'video/webm', size: 7, status: 'clean', source: 'upload' } as const;
    await own.store.collection(FILES).insert({ id: FILE, ownerId: 'bob', createdAt: 0, ...about });
    await run();
    expect(names()).toEqual(['fetch']);
  });

  it('without an amount is free', async () => {
    const { run, get, own, money } = await open({ record: { ...MADE, step: 'kept' } });
    await run();
    expect([(await get()).settled, await money()]).toEqual([0, FREE]);
    expect(await own.ledger.charges({ account: 'user:ada' }, 9)).toMatchObject([{ amount: 0, usage: {} }]);
  });

  it('without a hold is recorded once, before it ends', async () => {
    let isAway = true;
    const keys: string[] = [];
    const { run, get, own, generations } = await open({
      isHeld: false,
      change: ({ ledger }) => ({
        ledger: {
          ...ledger,
          async record(entry) {
            keys.push(entry.key);
            if (isAway) throw new Error('away');
            return ledger.record(entry);
          },
        },
      }),
    });
    await expect(run()).rejects.toThrow('away');
    expect((await get()).state).toBe('storing');
    isAway = false;
    await run();
    await generations.update(ID, { state: 'storing' });
    await run();
    expect([(await get()).state, await own.ledger.charges({ account: 'user:ada' }, 9)]).toMatchObject([
      ...['succeeded', [{ requestId: 'r' }]],
    ]);
    expect(keys).toEqual([ID, ID, ID]);
  });

  it('without a hold is recorded as free', async () => {
    const { run, get, own, money } = await open({ isHeld: false, record: { prices: undefined as never } });
    await run();
    const { state, settled } = await get();
    expect([state, settled, await money()]).toEqual(['succeeded', undefined, FREE]);
    const charges = await own.ledger.charges({ account: 'user:ada' }, 9);
    expect(charges).toMatchObject([
      { operation: 'createVideoGeneration', model: 'director', requestId: 'r', usage: { seconds: 8 } },
    ]);
  });

  it('closes its stream if it is not read', async () => {
    let isClosed = false;
    const body = {
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: true as const, value: undefined }),
        return: async () => {
          await settle();
          isClosed = true;
          return { done: true as const, value: undefined };
        },
      }),
    };
    const { run } = await open({
      jobs: { fetch: async () => ({ mediaType: 'video/mp4', body }) },
      change: ({ library }) => ({
        library: { ...library, save: async () => ({ skipped: 'storage_limit' as const }) },
      }),
    });
    await run();
    expect(isClosed).toBe(true);
  });
});
