import { describe, expect, it } from 'vitest';
import { settle } from '../../../test/delayed.ts';
import { FREE, HELD, openGeneration, POLL, VIDEO_INPUT } from '../../../test/generations.ts';
import { ProviderError, type ProviderErrorKind } from '../../ports/models.ts';
import { FILES } from '../files/records.ts';

const fail = (kind: ProviderErrorKind, retryAfterMs?: number) => async (): Promise<never> => {
  throw new ProviderError(kind, 'secret', retryAfterMs === undefined ? {} : { retryAfterMs });
};
const GONE = { code: 'model_unavailable', message: 'The model is no longer available.' };

describe('the submission of a video', () => {
  it('is made once, under a longer lease', async () => {
    const { clock, run, get, calls, money, incidents } = await openGeneration();
    expect(await run()).toEqual(POLL);
    const { mode: _, ...asked } = VIDEO_INPUT;
    expect(calls).toEqual([['extend'], ['submit', { model: 'director', ...asked }, false]]);
    expect(await get()).toMatchObject({
      ...{ state: 'running', step: 'submitted', providerJobId: 'job-1', submittedBy: 'j:1' },
      ...{ submittedAt: clock.now(), updatedAt: clock.now() },
    });
    expect([await money(), incidents]).toEqual([HELD, []]);
  });

  it('notes its beginning and its end', async () => {
    const seen: unknown[] = [];
    const opened: Awaited<ReturnType<typeof openGeneration>> = await openGeneration({
      jobs: {
        async submit() {
          await look();
          if (seen.length === 1) throw new ProviderError('overloaded', 'x');
          return 'job-1';
        },
      },
    });
    const look = async () => {
      const { step, updatedAt } = await opened.get();
      seen.push([step, opened.clock.now() - updatedAt]);
      await opened.clock.advance(7);
    };
    await opened.clock.advance(7);
    for (let round = 0; round < 2; round += 1) {
      await opened.run();
      await look();
    }
    expect(seen).toEqual([
      ['submitting', 0],
      [undefined, 0],
      ['submitting', 0],
      ['submitted', 0],
    ]);
  });

  it('waits for its longer lease', async () => {
    let isExtended = false;
    const { run, get } = await openGeneration({
      jobs: { submit: async () => `${isExtended}` },
    });
    await run(undefined, async () => {
      await settle();
      isExtended = true;
    });
    expect((await get()).providerJobId).toBe('true');
  });

  it('is not repeated by another worker', async () => {
    const { run, get, calls, money, published } = await openGeneration({
      record: { state: 'running', step: 'submitting', submittedBy: 'i:1' },
    });
    expect(await run()).toBeUndefined();
    const message = 'The submission to the provider was interrupted, and is not repeated. Try again.';
    expect(await get()).toMatchObject({ state: 'failed', error: { code: 'provider_error', message } });
    expect((await get()).nextCheckAt).toBeUndefined();
    expect([calls, await money(), published]).toEqual([[], FREE, [['ended', 'a'.repeat(24)]]]);
  });

  it.each([
    ['model', { models: [] }],
    ['provider', { record: { provider: 'other' } }],
    ['ability', { provider: { video: undefined } as never }],
  ])('fails without its %s', async (_, options) => {
    const { run, get, calls, money } = await openGeneration(options);
    expect(await run()).toBeUndefined();
    expect(await get()).toMatchObject({ state: 'failed', error: GONE });
    expect([calls, await money()]).toEqual([[], FREE]);
  });

  it('has the image of the request', async () => {
    const id = 'b'.repeat(24);
    const record = { input: { ...VIDEO_INPUT, mode: 'image_to_video', inputImageFileId: id } } as const;
    const { run, own, calls } = await openGeneration({ record });
    const about = { name: 'a.png', mimeType: 'image/png', size: 5, source: 'upload', createdAt: 0 } as const;
    await own.store
      .collection(FILES)
      .insert({ id, ownerId: 'ada', status: 'clean', objectKey: 'a/1', ...about });
    await own.objects.put('a/1', Buffer.from('image'), { contentType: 'image/png' });
    expect(await run()).toEqual(POLL);
    expect(calls[1]?.[1]).toMatchObject({ image: { mediaType: 'image/png', data: Buffer.from('image') } });
    const lost = await openGeneration({ record });
    expect(await lost.run()).toBeUndefined();
    expect(await lost.get()).toMatchObject({ state: 'failed', error: { code: 'input_image_not_found' } });
    const blocked = await openGeneration({ record });
    const file = { id, ownerId: 'ada', status: 'blocked', ...about } as const;
    await blocked.own.store.collection(FILES).insert(file);
    await blocked.run();
    expect(await blocked.get()).toMatchObject({ error: { code: 'unsupported_input' } });
    expect(blocked.names()).toEqual([]);
    const away = await openGeneration({
      record,
      change: ({ files }) => ({ files: { ...files, findAll: () => Promise.reject(new Error('away')) } }),
    });
    await expect(away.run()).rejects.toThrow('away');
  });

  it('is not made if the generation is cancelled before', async () => {
    const { run, get, generations, calls, money, record } = await openGeneration();
    const cancel = async () => void (await generations.update(record.id, { state: 'cancelled' }));
    expect(await run(undefined, cancel)).toBeUndefined();
    expect([calls, (await get()).state, await money()]).toEqual([[], 'cancelled', FREE]);
  });

  it('that is accepted after a cancellation is cancelled at the provider', async () => {
    const opened: Awaited<ReturnType<typeof openGeneration>> = await openGeneration({
      jobs: {
        async submit() {
          await opened.generations.update(opened.record.id, { state: 'cancelled' });
          return 'job-2';
        },
      },
    });
    expect(await opened.run()).toBeUndefined();
    expect(opened.calls).toEqual([['extend'], ['cancel', 'job-2']]);
    expect([(await opened.get()).nextCheckAt, await opened.money()]).toEqual([undefined, FREE]);
  });

  it('that is accepted after a failure is cancelled at the provider', async () => {
    const opened: Awaited<ReturnType<typeof openGeneration>> = await openGeneration({
      jobs: {
        async submit() {
          await opened.generations.update(opened.record.id, { state: 'failed' });
          return 'job-2';
        },
      },
    });
    expect(await opened.run()).toBeUndefined();
    expect(opened.calls).toEqual([['extend'], ['cancel', 'job-2']]);
    expect(await opened.money()).toEqual(FREE);
  });

  it.each([
    ['content_blocked', 'blocked', 'content_blocked'],
    ['invalid_request', 'failed', 'invalid_request'],
    ['failed', 'failed', 'provider_error'],
  ] as const)('that is refused ends: %s', async (kind, state, code) => {
    const { run, get, incidents, money } = await openGeneration({ jobs: { submit: fail(kind) } });
    expect(await run()).toBeUndefined();
    expect(await get()).toMatchObject({ state, error: { code } });
    expect(incidents).toMatchObject([{ operation: 'job:video-generation', requestId: 'r', error: { kind } }]);
    expect(await money()).toEqual(FREE);
  });

  it('fails after two minutes', async () => {
    const { clock, run, get } = await openGeneration({
      jobs: { submit: () => new Promise(() => undefined) },
    });
    const running = run();
    await settle();
    await clock.advance(119_999);
    expect((await get()).state).toBe('running');
    await clock.advance(1);
    await running;
    expect(await get()).toMatchObject({ state: 'failed', error: { code: 'provider_timeout' } });
  });

  it.each([
    [undefined, 5000],
    [4000, 5000],
    [6000, 6000],
    [400_000, 300_000],
  ])('waits for a provider that is overloaded for %s ms', async (retryAfterMs, afterMs) => {
    const { run, get, money } = await openGeneration({ jobs: { submit: fail('overloaded', retryAfterMs) } });
    expect(await run()).toEqual({ afterMs, countAttempt: false });
    const { state, step, submittedBy } = await get();
    expect([state, step, submittedBy, await money()]).toEqual(['running', undefined, undefined, HELD]);
  });

  it('waits for an overloaded provider for its maximum time', async () => {
    const refusing = { jobs: { submit: fail('overloaded') } };
    const late = await openGeneration(refusing);
    await late.clock.advance(3_599_999);
    expect(await late.run()).toEqual(POLL);
    await late.clock.advance(1);
    // Since the first submission.
    expect(await late.run()).toEqual(POLL);
    await late.clock.advance(3_599_999);
    expect(await late.run()).toBeUndefined();
    expect(await late.get()).toMatchObject({ state: 'failed' });
  });

  it('that is refused after a cancellation changes nothing', async () => {
    const opened: Awaited<ReturnType<typeof openGeneration>> = await openGeneration({
      jobs: {
        async submit() {
          await opened.generations.update(opened.record.id, { state: 'cancelled' });
          throw new ProviderError('overloaded', 'no');
        },
      },
    });
    expect(await opened.run()).toBeUndefined();
    expect([(await opened.get()).state, await opened.money()]).toEqual(['cancelled', FREE]);
  });
});
