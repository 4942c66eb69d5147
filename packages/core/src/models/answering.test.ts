import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import {
  type GenerateRequest,
  type ModelChunk,
  type ModelPart,
  type ModelProvider,
  ProviderError,
} from '../ports/models.ts';
import { ApiError } from '../shared/errors.ts';
import { type CallMoney, generateWithFallback, type ModelCallOptions } from './answering.ts';
import { createCircuitBreaker } from './breaker.ts';
import type { CatalogueEntry } from './catalogue.ts';

const text = (words: string): ModelPart => ({ type: 'text', text: words });
const USAGE: ModelPart = { type: 'usage', usage: { input: 1 } };
const failed = new ProviderError('failed', 'x');
const overloaded = (retryAfterMs?: number) =>
  new ProviderError('overloaded', 'x', retryAfterMs === undefined ? {} : { retryAfterMs });

/** What a call of the model answers: its chunks, then a failure or nothing for ever; or a failure instead. */
type Attempt = readonly (ModelChunk | Error | 'silent')[] | Error;

function setUp(
  models: Readonly<Record<string, readonly Attempt[]>>,
  more: { readonly ownKey?: boolean } = {},
) {
  const clock = createFakeClock();
  const breaker = createCircuitBreaker(clock);
  const incidents: unknown[] = [];
  const leaving = new AbortController();
  /** What happened, in order. */
  const log: string[] = [];
  /** The signals that the provider received. */
  const signals: (AbortSignal | undefined)[] = [];
  const { signal } = new AbortController();
  const moneyOf = (id: string): CallMoney => {
    return {
      meter: {
        awaitsReport: false,
        ask: () => void log.push(`ask ${id}`),
        accept: () => void log.push(`accept ${id}`),
        record: (part: ModelPart) => void log.push(`record ${part.type}`),
      } as unknown as CallMoney['meter'],
      control: { signal, stop: () => void log.push('stop') } as unknown as CallMoney['control'],
      release: async () => {
        await settle();
        log.push(`release ${id}`);
      },
      left: async () => {
        await settle();
        log.push(`left ${id}`);
      },
    };
  };
  const attempts = new Map(Object.entries(models).map(([id, list]) => [id, [...list]]));
  const candidates = Object.keys(models).map((id) => {
    const generate: ModelProvider['generate'] = async (_, { signal }) => {
      signals.push(signal);
      const attempt = attempts.get(id)?.shift() ?? [];
      if (attempt instanceof Error) throw attempt;
      const left = [...attempt];
      return {
        [Symbol.asyncIterator]: () => ({
          async next() {
            const value = left.shift();
            if (value === 'silent') return new Promise<never>(() => undefined);
            if (value instanceof Error) throw value;
            return value === undefined ? { done: true, value } : { done: false, value };
          },
          async return() {
            await settle();
            log.push(`closed ${id}`);
            left.length = 0;
            return { done: true, value: undefined };
          },
        }),
      };
    };
    const provider = { id: `provider of ${id}`, models: () => [], generate };
    return { info: { id }, provider, providerModel: id, ...more } as unknown as CatalogueEntry;
  });
  const options: ModelCallOptions<CallMoney> = {
    candidates,
    requestFor: ({ info }) => ({ model: info.id, maxTokens: 100_000 }) as GenerateRequest,
    pay: async ({ info }) => moneyOf(info.id),
    ...{ operation: 'createChat', requestId: 'r', callerId: 'ada', signal: leaving.signal },
  };
  const services = { clock, breaker, onError: (incident: unknown) => void incidents.push(incident) };
  return {
    ...{ breaker, candidates, clock, incidents, leaving, log, options, services, signal, signals },
    generate: (changes: Partial<ModelCallOptions<CallMoney>> = {}) =>
      generateWithFallback(services, { ...options, ...changes }),
  };
}

async function readAll(chunks: AsyncIterator<ModelChunk>): Promise<ModelChunk[]> {
  const read: ModelChunk[] = [];
  for (;;) {
    const step = await chunks.next();
    expect(typeof step.done).toBe('boolean');
    if (step.done === true) return read;
    read.push(step.value);
  }
}

/** Lets everything happen that waits for no timer. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('first output of a model', () => {
  it('is waited for, and all chunks follow in order', async () => {
    const chunks = [USAGE, [USAGE], [USAGE, text('a')], text('b'), text('c')] as const;
    const { generate, incidents, log, signal, signals } = setUp({ a: [chunks as unknown as ModelChunk[]] });
    const answering = await generate();
    expect(answering).toMatchObject({ entry: { info: { id: 'a' } }, firstFailure: undefined });
    expect(log).toEqual(['ask a', 'accept a']);
    expect(await readAll(answering.chunks)).toEqual(chunks);
    expect([log.slice(2), incidents]).toEqual([[], []]);
    expect(signals[0]).toBe(signal);
  });

  it('closes its source when the reader leaves, and nothing follows', async () => {
    const { generate, log } = setUp({ a: [[USAGE, text('a'), text('b')]] });
    const { chunks } = await generate();
    await chunks.next();
    expect(await chunks.return?.()).toEqual({ done: true, value: undefined });
    expect(log).toContain('closed a');
    expect((await chunks.next()).done).toBe(true);
  });

  it('is all that is waited for', async () => {
    const { generate } = setUp({ a: [[[USAGE], text('a'), 'silent']] });
    const { chunks } = await generate();
    expect([(await chunks.next()).value, (await chunks.next()).value]).toEqual([[USAGE], text('a')]);
  });

  it('is absent in an empty answer', async () => {
    const { generate } = setUp({ a: [[USAGE]] });
    expect(await readAll((await generate()).chunks)).toEqual([USAGE]);
  });
});

describe('failure before the first output', () => {
  it.each([
    ['fails', [failed, failed], [500, 2000]],
    ['is overloaded', [overloaded(), overloaded()], [500, 2000]],
    ['says when it is back', [overloaded(700), overloaded(10_000)], [700, 10_000]],
    ['says a time before the usual pause', [overloaded(1), overloaded(1)], [500, 2000]],
    ['fails after a report of usage', [[USAGE, [USAGE], failed]], [500]],
  ])('is tried again if the provider %s', async (_title, failures, pauses) => {
    const { clock, generate, incidents, log } = setUp({ a: [...failures, [text('a')]] });
    const answer = generate();
    for (const [at, pause] of pauses.entries()) {
      await settle();
      await clock.advance(pause - 1);
      expect(log.filter((entry) => entry === 'ask a')).toHaveLength(at + 1);
      await clock.advance(1);
    }
    expect(await readAll((await answer).chunks)).toEqual([text('a')]);
    expect([incidents, clock.pending]).toEqual([[], 0]);
  });

  it('is reported after the third, without a charge', async () => {
    const { clock, generate, incidents, log } = setUp({ a: [failed, failed, failed] });
    const answer = generate();
    const failure = expect(answer).rejects.toMatchObject({ status: 502, cause: failed });
    await settle();
    await clock.advance(500);
    await clock.advance(2000);
    await failure;
    expect(log).toEqual(['ask a', 'ask a', 'ask a', 'release a']);
    expect(incidents).toEqual([{ operation: 'createChat', requestId: 'r', error: failed }]);
  });

  it.each([
    ['the provider is away for longer', overloaded(10_001), 503],
    ['the request is invalid', new ProviderError('invalid_request', 'x'), 422],
    ['the provider did not answer in time', new ProviderError('timeout', 'x'), 502],
    ['the call is refused', new ApiError(403, 'x'), 403],
  ])('is not tried again if %s', async (_title, error, status) => {
    const { generate, log } = setUp({ a: [error, [text('a')]] });
    await expect(generate()).rejects.toMatchObject({ status });
    expect(log).toEqual(['ask a', 'release a']);
  });

  it('is not tried again after it has opened the circuit', async () => {
    const { breaker, candidates, clock, generate, log } = setUp({ a: [failed, [text('a')]] });
    const [entry] = candidates;
    const call = breaker.call;
    let waits = 0;
    breaker.call = ((...given: Parameters<typeof call>) =>
      call(...given).finally(() => {
        waits = 1;
      })) as typeof call;
    breaker.retryAfterMs = () => waits;
    await expect(generate()).rejects.toMatchObject({ status: 502 });
    expect([log, clock.pending, entry?.info.id]).toEqual([['ask a', 'release a'], 0, 'a']);
  });

  it('goes to the next model, which says why', async () => {
    const refused = new ProviderError('rejected_key', 'x');
    const { generate, incidents, log } = setUp({ a: [refused], b: [[text('b')]] });
    expect(await generate()).toMatchObject({
      entry: { info: { id: 'b' } },
      firstFailure: { status: 401, code: 'provider_rejected' },
    });
    expect(log).toEqual(['ask a', 'release a', 'ask b', 'accept b']);
    expect(incidents).toHaveLength(1);
  });

  it('of all models is that of the first', async () => {
    const { generate } = setUp({
      a: [new ProviderError('not_configured', 'x')],
      b: [new ProviderError('timeout', 'x')],
    });
    await expect(generate()).rejects.toMatchObject({ code: 'provider_not_configured' });
    await expect(generate({ candidates: [] })).rejects.toMatchObject({ message: 'there is no model to ask' });
  });

  it('does not go to the next model if the request or the key of the user is the cause', async () => {
    const invalid = new ProviderError('invalid_request', 'x');
    const request = setUp({ a: [invalid], b: [[text('b')]] });
    await expect(request.generate()).rejects.toMatchObject({ status: 422 });
    const refused = new ProviderError('rejected_key', 'x');
    const own = setUp({ a: [refused], b: [[text('b')]] }, { ownKey: true });
    await expect(own.generate()).rejects.toMatchObject({ status: 401 });
    const away = new ProviderError('timeout', 'x');
    const away2 = setUp({ a: [away], b: [[text('b')]] }, { ownKey: true });
    expect((await away2.generate()).entry.info.id).toBe('b');
  });

  it.each([
    [1, '1'],
    [1500, '2'],
  ])('skips a model whose circuit is open for %i ms', async (openMs, seconds) => {
    const { breaker, generate, log } = setUp({ a: [[text('a')]], b: [[text('b')]] });
    const waits = [openMs, 0];
    breaker.retryAfterMs = () => waits.shift() ?? 0;
    expect(await generate()).toMatchObject({
      entry: { info: { id: 'b' } },
      firstFailure: { status: 503, headers: { 'Retry-After': seconds } },
    });
    expect(log).toEqual(['ask b', 'accept b']);
  });
});

describe('hold of a model call', () => {
  const tooLong = new ApiError(422, 'x', { code: 'context_length_exceeded' });

  it('that is refused ends the call, except for a fallback that reads less', async () => {
    const pay = (lost: string) => async (entry: CatalogueEntry) => {
      if (entry.info.id === lost) throw tooLong;
      return setUp({}).options.pay(entry, {} as GenerateRequest);
    };
    const first = setUp({ a: [[text('a')]], b: [[text('b')]] });
    await expect(first.generate({ pay: pay('a') })).rejects.toBe(tooLong);
    const away = new ProviderError('timeout', 'x');
    const second = setUp({ a: [away], b: [[text('b')]], c: [[text('c')]] });
    expect((await second.generate({ pay: pay('b') })).entry.info.id).toBe('c');
    const refused = new ApiError(422, 'x', { code: 'insufficient_credits' });
    const third = setUp({ a: [away], b: [[text('b')]], c: [[text('c')]] });
    const payB = async (entry: CatalogueEntry, request: GenerateRequest) => {
      if (entry.info.id === 'b') throw refused;
      return third.options.pay(entry, request);
    };
    await expect(third.generate({ pay: payB })).rejects.toBe(refused);
  });

  it.each([
    [{}, false],
    [{ isCapNamed: true }, false],
    [{ isCapNamed: false }, true],
  ])('lowers the output limit to the credit only if the request names none: %j', async (named, isLowered) => {
    const { generate, options } = setUp({ a: [[text('a')]] });
    const asked: number[] = [];
    const refused = new ApiError(422, 'x', { code: 'insufficient_credits' });
    const pay: typeof options.pay = async (entry, request) => {
      asked.push(request.maxTokens ?? 0);
      if (asked.length === 1) throw refused;
      return options.pay(entry, request);
    };
    const answer = generate({ ...named, pay });
    if (isLowered) expect((await answer).entry.info.id).toBe('a');
    else await expect(answer).rejects.toBe(refused);
    expect(asked.length).toBe(isLowered ? 2 : 1);
  });
});

describe('client that leaves before the first output', () => {
  it('ends the call at once, with what was read', async () => {
    const { generate, incidents, leaving, log } = setUp({ a: [[[USAGE, USAGE], 'silent']] });
    const gone = new Error('gone');
    const answer = generate();
    const end = expect(answer).rejects.toBe(gone);
    await settle();
    leaving.abort(gone);
    await end;
    const read = ['record usage', 'record usage'];
    expect(log).toEqual(['ask a', 'accept a', 'stop', ...read, 'closed a', 'left a']);
    expect(incidents).toEqual([]);
  });

  it('ends a pause between two tries', async () => {
    const { clock, generate, leaving, log } = setUp({ a: [failed, [text('a')]] });
    const gone = new Error('gone');
    const end = expect(generate()).rejects.toBe(gone);
    await settle();
    expect(clock.pending).toBe(1);
    leaving.abort(gone);
    await end;
    expect(clock.pending).toBe(0);
    expect(log).toEqual(['ask a', 'left a']);
  });

  it('calls no model if it has left before', async () => {
    const { generate, leaving, log } = setUp({ a: [[text('a')]] });
    const gone = new Error('gone');
    leaving.abort(gone);
    await expect(generate()).rejects.toBe(gone);
    expect(log).toEqual(['stop', 'left a']);
  });
});
