import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createMemoryLedger } from '../memory/ledger.ts';
import type { CreditLedger } from '../ports/ledger.ts';
import type { GenerateOptions, ModelChunk, ModelProvider } from '../ports/models.ts';
import type { JobQueue, LeasedJob, NewJob } from '../ports/queue.ts';
import type { Json } from '../ports/store.ts';
import type { EngineWrite } from '../ports/write-all.ts';
import { joinObservers } from './joined.ts';
import { instrumentLedger } from './ledger.ts';
import { instrumentProvider } from './models.ts';
import type { CreditMovement, ModelCall, ModelCallEnd, Observer } from './observer.ts';
import { carriedBy, propagateContext } from './queue.ts';

describe('several observers', () => {
  it('have only the members of at least one of them', () => {
    expect(joinObservers([])).toBeUndefined();
    const all: Observer = {
      request: (_, work) => work(),
      job: (_, work) => work(),
      modelCall: () => undefined,
      credit: () => undefined,
      usageRejected: () => undefined,
      getTraceContext: () => undefined,
    };
    for (const name of Object.keys(all) as (keyof Observer)[])
      expect(Object.keys(joinObservers([{}, { [name]: all[name] }]) ?? {})).toEqual([name]);
  });

  it('wrap requests and jobs from the first to the last, around those without the member', async () => {
    const order: string[] = [];
    const toObserver = (name: string): Observer => ({
      request: async (_, work) => {
        order.push(name);
        return work();
      },
      job: async (_, work) => {
        order.push(name);
        return work();
      },
    });
    const joined = joinObservers([toObserver('a'), {}, toObserver('b')]);
    const answer = { status: 200, headers: {}, body: undefined };
    expect(await joined?.request?.({} as never, async () => answer)).toBe(answer);
    expect(await joined?.job?.({} as never, async () => ({ afterMs: 5, countAttempt: false }))).toEqual({
      afterMs: 5,
      countAttempt: false,
    });
    expect(order).toEqual(['a', 'b', 'a', 'b']);
  });

  it('all hear each event, also when one of them fails', () => {
    const heard: string[] = [];
    const broken = (): never => {
      throw new Error('broken');
    };
    const listener = (name: string): Observer => ({
      modelCall: ({ model }) => ({
        began: () => void heard.push(`${name} began ${model}`),
        ended: ({ outcome }) => void heard.push(`${name} ${outcome}`),
      }),
      credit: ({ kind }) => void heard.push(`${name} ${kind}`),
      usageRejected: ({ operation }) => void heard.push(`${name} ${operation}`),
      getTraceContext: () => ({ [name]: '1' }),
    });
    const failing: Observer = {
      modelCall: broken,
      credit: broken,
      usageRejected: broken,
      getTraceContext: broken,
    };
    const late: Observer = { modelCall: () => ({ began: broken, ended: broken }) };
    const joined = joinObservers([failing, listener('a'), late, {}, listener('b')]);
    const span = joined?.modelCall?.({ model: 'm' } as ModelCall);
    span?.began?.();
    span?.ended({ outcome: 'done' });
    joined?.credit?.({ kind: 'held' } as CreditMovement);
    joined?.usageRejected?.({ operation: 'chat' } as never);
    expect(heard).toEqual(['began m', 'done', 'held', 'chat'].flatMap((what) => [`a ${what}`, `b ${what}`]));
    expect(joined?.getTraceContext?.()).toEqual({ a: '1', b: '1' });
  });
});

describe('credit movements', () => {
  const ACCOUNT = 'user:u';
  const DETAILS = { operation: 'chat', model: 'm' };
  const WRITE: EngineWrite = { do: 'engine', engine: {}, work: {}, applied: () => undefined };

  async function setUp(changes: Partial<CreditLedger> = {}) {
    const clock = createFakeClock();
    const memory = createMemoryLedger({ clock });
    await memory.grant({ account: ACCOUNT, amount: 100, key: 'a', reason: 'a' });
    const movements: CreditMovement[] = [];
    const ledger = instrumentLedger({ ...memory, ...changes }, (movement) => void movements.push(movement));
    const request = {
      account: ACCOUNT,
      amount: 10,
      key: 'k',
      expiresAt: clock.now() + 1e6,
      details: DETAILS,
    };
    const hold = async (amount = 10) => {
      const outcome = await ledger.hold({ ...request, amount });
      return outcome.outcome === 'held' ? outcome.hold : undefined;
    };
    return { ledger, movements, hold, memory };
  }

  it('are reported once each: held and settled', async () => {
    const { ledger, movements, hold } = await setUp();
    const held = await hold();
    if (held === undefined) throw new Error('not held');
    await hold();
    await ledger.settle(held, 4, { input: 1 });
    await ledger.settle(held, 4, { input: 1 });
    await ledger.release(held);
    await hold();
    expect(movements).toEqual([
      { kind: 'held', amount: 10, ...DETAILS },
      { kind: 'settled', amount: 4, ...DETAILS, usage: { input: 1 } },
    ]);
  });

  it('are reported once each: released, also without usage', async () => {
    const { ledger, movements, hold } = await setUp();
    const held = await hold();
    if (held === undefined) throw new Error('not held');
    await ledger.release(held);
    await ledger.release(held);
    await ledger.settle(held, 3);
    expect(movements.slice(1)).toEqual([
      { kind: 'released', amount: 10, ...DETAILS },
      { kind: 'settled', amount: 3, operation: undefined, model: undefined },
    ]);
  });

  it('are none for a refusal, and have no purpose for a hold of another process', async () => {
    const { ledger, movements, hold, memory } = await setUp();
    expect(await hold(1000)).toBeUndefined();
    const request = { account: ACCOUNT, amount: 5, key: 'x', expiresAt: 1e15, details: DETAILS };
    const foreign = await memory.hold(request);
    if (foreign.outcome !== 'held') throw new Error('not held');
    await ledger.release(foreign.hold);
    expect(movements).toEqual([]);
  });

  it('are reported after a settlement that is a part of a step', async () => {
    const { ledger, movements, hold } = await setUp({ toSettlement: () => WRITE });
    const held = await hold();
    if (held === undefined) throw new Error('not held');
    const write = ledger.toSettlement?.(held, 4, { input: 1 });
    expect(movements).toHaveLength(1);
    write?.applied();
    ledger.toSettlement?.(held, 5)?.applied();
    expect(movements.slice(1)).toEqual([
      { kind: 'settled', amount: 4, ...DETAILS, usage: { input: 1 } },
      { kind: 'settled', amount: 5, operation: undefined, model: undefined },
    ]);
    const { ledger: without } = await setUp({ toSettlement: () => undefined });
    expect(without.toSettlement?.(held, 4)).toBeUndefined();
  });

  it('are none for a call of the ledger that fails', async () => {
    const failing = () => Promise.reject(new Error('away'));
    const { ledger, movements, hold } = await setUp({ release: failing, record: failing });
    const held = await hold();
    if (held === undefined) throw new Error('not held');
    await expect(ledger.release(held)).rejects.toThrow('away');
    await expect(ledger.record({ account: ACCOUNT, key: 'r', details: DETAILS })).rejects.toThrow('away');
    expect(movements.map(({ kind }) => kind)).toEqual(['held']);
  });

  it('leave the optional calls of a ledger as they are', async () => {
    const names = [
      'renewAll',
      'sumCharges',
      'capUsage',
      'exportEntries',
      'archiveCharges',
      'countArchivable',
    ] as const;
    for (const name of names) {
      const answer = {};
      const others = Object.fromEntries(names.map((one) => [one, undefined]));
      const call = function (this: unknown) {
        return this === undefined ? undefined : answer;
      };
      const { ledger } = await setUp({ ...others, [name]: call });
      expect(names.filter((one) => one in ledger)).toEqual([name]);
      expect((ledger[name] as unknown as () => unknown)()).toBe(answer);
    }
  });

  it('are reported for recorded usage', async () => {
    const { ledger, movements, memory } = await setUp();
    await ledger.record({ account: ACCOUNT, key: 'r', details: DETAILS, usage: { input: 2 } });
    await ledger.record({ account: ACCOUNT, key: 's', details: DETAILS });
    expect(movements).toEqual([
      { kind: 'recorded', amount: 0, ...DETAILS, usage: { input: 2 } },
      { kind: 'recorded', amount: 0, ...DETAILS },
    ]);
    expect(await memory.charges({ account: ACCOUNT }, 10)).toHaveLength(2);
  });
});

describe('model calls', () => {
  const REQUEST = { model: 'm', messages: [], maxTokens: 5 };

  function watch(provider: Partial<ModelProvider>) {
    const calls: ModelCall[] = [];
    const ends: ModelCallEnd[] = [];
    const begun: string[] = [];
    const instrumented = instrumentProvider(
      { id: 'p', models: () => [], generate: () => Promise.reject(new Error('unused')), ...provider },
      (call) => {
        calls.push(call);
        return { began: () => void begun.push(call.kind), ended: (end) => void ends.push(end) };
      },
    );
    return { instrumented, calls, ends, begun };
  }

  async function* chunks(...given: readonly ModelChunk[]) {
    yield* given;
  }
  async function* broken(): AsyncGenerator<ModelChunk> {
    yield { type: 'text', text: 'a' };
    throw new Error('cut');
  }
  const FINISH = { type: 'finish', reason: 'stop', model: 'm-1' } as const;
  const USAGE = { type: 'usage', usage: { input: 1 } } as const;

  async function read(source: AsyncIterable<ModelChunk>, most = 100): Promise<number> {
    let count = 0;
    for await (const _ of source) {
      count += 1;
      if (count === most) break;
    }
    return count;
  }

  it('end with usage, model and reason, once', async () => {
    const given = [{ type: 'text', text: 'a' }, [{ type: 'text', text: 'b' }, USAGE], FINISH] as const;
    const { instrumented, calls, ends, begun } = watch({ generate: async () => chunks(...given) });
    expect(await read(await instrumented.generate({ ...REQUEST, temperature: 0 }, { apiKey: 'k' }))).toBe(3);
    expect(calls).toEqual([
      { provider: 'p', model: 'm', kind: 'chat', ownKey: true, maxTokens: 5, temperature: 0 },
    ]);
    expect(begun).toEqual(['chat']);
    expect(ends).toEqual([{ outcome: 'done', usage: { input: 1 }, finishReason: 'stop', model: 'm-1' }]);
  });

  it.each<[string, () => AsyncIterable<ModelChunk>, number, boolean, ModelCallEnd['outcome'], boolean]>([
    [
      'that are left by the reader',
      () => chunks({ type: 'text', text: 'a' }, FINISH),
      1,
      false,
      'client_closed',
      false,
    ],
    ['that are left after the last part', () => chunks(FINISH, USAGE), 1, false, 'done', false],
    ['that fail', broken, 100, false, 'failed', true],
    ['that fail after the client has left', broken, 100, true, 'client_closed', true],
    ['without parts', () => chunks(), 100, false, 'done', false],
  ])('%s end so', async (_, open, most, isAborted, outcome, hasError) => {
    const { instrumented, calls, ends } = watch({ generate: async () => open() });
    const options: GenerateOptions = isAborted ? { signal: AbortSignal.abort() } : {};
    await read(await instrumented.generate(REQUEST, options), most).catch(() => undefined);
    expect(calls).toEqual([{ provider: 'p', model: 'm', kind: 'chat', ownKey: false, maxTokens: 5 }]);
    expect(ends).toMatchObject([{ outcome }]);
    expect('error' in (ends[0] ?? {})).toBe(hasError);
  });

  it('that are left end their source before the reader goes on', async () => {
    let isEnded = false;
    async function* source(): AsyncGenerator<ModelChunk> {
      try {
        yield { type: 'text', text: 'a' };
      } finally {
        await Promise.resolve();
        isEnded = true;
      }
    }
    const { instrumented } = watch({ generate: async () => source() });
    await read(await instrumented.generate(REQUEST, {}), 1);
    expect(isEnded).toBe(true);
  });

  it('that do not begin fail, or were left', async () => {
    const { instrumented, ends, begun } = watch({});
    await expect(instrumented.generate(REQUEST, {})).rejects.toThrow('unused');
    await expect(instrumented.generate(REQUEST, { signal: AbortSignal.abort() })).rejects.toThrow('unused');
    expect([ends.map(({ outcome }) => outcome), begun]).toEqual([['failed', 'client_closed'], []]);
    expect(ends[0]?.error).toBeInstanceOf(Error);
  });

  it('are passed on as they are when the observer looks at none', async () => {
    const answer = chunks();
    const provider = { id: 'p', models: () => [], generate: async () => answer } as unknown as ModelProvider;
    expect(await instrumentProvider(provider, () => undefined).generate(REQUEST, {})).toBe(answer);
  });

  const MEDIA = {
    image: 'image',
    speech: 'speech',
    soundEffect: 'sound_effect',
    music: 'music',
    transcribe: 'transcription',
  } as const;

  it.each(Object.entries(MEDIA))(
    'of the kind %s are reported as %s, with their usage',
    async (verb, kind) => {
      const { instrumented, calls, ends } = watch({ [verb]: async () => ({ usage: { images: 1 } }) });
      await (instrumented[verb as 'image'] as NonNullable<ModelProvider['image']>)(
        { model: 'm' } as never,
        {},
      );
      expect([calls, ends]).toMatchObject([
        [{ kind, model: 'm' }],
        [{ outcome: 'done', usage: { images: 1 } }],
      ]);
      const failing = watch({ [verb]: () => Promise.reject(new Error('no')) });
      const call = failing.instrumented[verb as 'image']?.({ model: 'm' } as never, {});
      await expect(call).rejects.toThrow('no');
      expect(failing.ends).toMatchObject([{ outcome: 'failed', error: expect.any(Error) }]);
      expect(watch({}).instrumented).not.toHaveProperty(verb);
    },
  );

  it.each([[{ usage: undefined }], ['text'], [null], [{}]])(
    'without usage are reported without it: %j',
    async (answer) => {
      const { instrumented, ends } = watch({ image: async () => answer as never });
      await instrumented.image?.({ model: 'm' } as never, {});
      expect(ends).toEqual([{ outcome: 'done' }]);
    },
  );

  it.each(['video', 'musicJobs'] as const)(
    'of jobs are reported when they are submitted: %s',
    async (verb) => {
      const steps: string[] = [];
      const step = (name: string) => async () => {
        steps.push(name);
        return { jobId: 'j' } as never;
      };
      const all = {
        submit: step('submit'),
        poll: step('poll'),
        fetch: step('fetch'),
        cancel: step('cancel'),
      };
      const { instrumented, calls, ends } = watch({ [verb]: all });
      const jobs = instrumented[verb];
      await jobs?.submit({ model: 'm' } as never, {});
      await jobs?.poll('j', {});
      await jobs?.fetch({} as never, {});
      await jobs?.cancel?.('j', {});
      expect(steps).toEqual(['submit', 'poll', 'fetch', 'cancel']);
      expect([calls.length, ends]).toEqual([1, [{ outcome: 'done' }]]);
      expect(calls).toMatchObject([{ kind: verb === 'video' ? 'video' : 'music', model: 'm' }]);
      const { cancel: _, ...without } = all;
      expect(watch({ [verb]: without }).instrumented[verb]).not.toHaveProperty('cancel');
      expect(watch({}).instrumented).not.toHaveProperty(verb);
    },
  );

  it('of embeddings are reported with their tokens and model', async () => {
    const { instrumented, calls, ends } = watch({
      embed: async () => ({ tokens: 3, model: 'm-1', embeddings: [] }),
    });
    await instrumented.embed?.({ model: 'm', texts: [] } as never, {});
    expect(calls).toMatchObject([{ kind: 'embeddings', model: 'm' }]);
    expect(ends).toEqual([{ outcome: 'done', usage: { input: 3 }, model: 'm-1' }]);
    const other = watch({ embed: async () => ({ tokens: 3, embeddings: [] }) });
    await other.instrumented.embed?.({ model: 'm', texts: [] } as never, {});
    expect(other.ends).toEqual([{ outcome: 'done', usage: { input: 3 } }]);
  });

  it('leave the other capabilities as they are', async () => {
    let closed = 0;
    const models = [{ id: 'm', type: 'text' }] as never;
    const own = [{ id: 'own', type: 'text' }] as never;
    const { instrumented } = watch({
      models: () => models,
      modelsForOwnKey: () => own,
      ignores: () => ['seed'],
      async close() {
        closed += 1;
      },
    });
    expect([instrumented.id, instrumented.models(), instrumented.modelsForOwnKey?.()]).toEqual([
      'p',
      models,
      own,
    ]);
    expect(instrumented.ignores?.(REQUEST)).toEqual(['seed']);
    await instrumented.close?.();
    expect(closed).toBe(1);
    expect(Object.keys(watch({}).instrumented).sort()).toEqual(['generate', 'id', 'models']);
  });
});

describe('the context of a job', () => {
  const JOB: NewJob = { kind: 'k', key: 'k', payload: { id: 'a' } };

  function setUp(context: Record<string, string> | undefined, writes?: JobQueue['writes']) {
    const enqueued: NewJob[] = [];
    const leased: Json[] = [];
    const queue = propagateContext(
      {
        enqueue: async (job: NewJob) => void enqueued.push(job),
        lease: async () => leased.map((payload) => ({ kind: 'k', payload }) as LeasedJob),
        ...(writes && { writes }),
      } as unknown as JobQueue,
      () => context,
    );
    return { queue, enqueued, leased };
  }

  it('comes with it to the worker, apart from its payload', async () => {
    const { queue, enqueued, leased } = setUp({ traceparent: 't' });
    await queue.enqueue(JOB);
    expect(enqueued).not.toEqual([JOB]);
    leased.push(...enqueued.map(({ payload }) => payload));
    const [job] = await queue.lease({} as never);
    if (job === undefined) throw new Error('no job');
    expect([job.payload, carriedBy(job)]).toEqual([{ id: 'a' }, { traceparent: 't' }]);
    expect(carriedBy({ kind: 'k', payload: {} } as LeasedJob)).toEqual({});
  });

  it.each([
    [undefined, { id: 'a' }],
    [{}, { id: 'a' }],
    [{ traceparent: 't' }, ['a']],
    [{ traceparent: 't' }, null],
    [{ traceparent: 't' }, 'a'],
  ])('is absent: %j, %j', async (context, payload) => {
    const { queue, enqueued, leased } = setUp(context);
    await queue.enqueue({ ...JOB, payload });
    expect(enqueued).toEqual([{ ...JOB, payload }]);
    leased.push(payload);
    expect((await queue.lease({} as never)).map((job) => [job.payload, carriedBy(job)])).toEqual([
      [payload, {}],
    ]);
  });

  it('has texts only', async () => {
    const { queue, leased } = setUp(undefined);
    leased.push(
      { id: 'a', $carried: { a: 'text', b: 7, c: null } },
      { $carried: null },
      { $carried: 'x' },
      { $carried: ['x'] },
    );
    const jobs = await queue.lease({} as never);
    expect(jobs.map(carriedBy)).toEqual([{ a: 'text' }, {}, {}, {}]);
    expect(jobs[0]?.payload).toEqual({ id: 'a' });
  });

  it('comes with jobs that are written among others', () => {
    const written: NewJob[] = [];
    const { queue } = setUp({ traceparent: 't' }, {
      enqueue: (job: NewJob) => written.push(job),
      enqueueLeased: (job: NewJob) => (written.push(job), { job, write: WRITE }),
      finish: () => WRITE,
    } as never);
    queue.writes?.enqueue(JOB);
    const leased = queue.writes?.enqueueLeased?.(JOB, 5);
    expect(written.map(({ payload }) => payload)).toEqual([
      { id: 'a', $carried: { traceparent: 't' } },
      { id: 'a', $carried: { traceparent: 't' } },
    ]);
    expect(leased?.job.payload).toEqual({ id: 'a' });
    expect(leased && carriedBy(leased.job)).toEqual({ traceparent: 't' });
    expect(queue.writes?.finish({} as never)).toBe(WRITE);
    expect(setUp({}).queue).not.toHaveProperty('writes');
    expect(setUp({}, { enqueue: () => WRITE, finish: () => WRITE } as never).queue.writes).not.toHaveProperty(
      'enqueueLeased',
    );
  });

  const WRITE = { do: 'engine' } as never;
});
