import { setImmediate as turn } from 'node:timers/promises';
import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import type { Call } from '../../contract/call.ts';
import type { EndedCost } from '../../models/paid-text-call.ts';
import type { AnswerChunk } from '../../ports/models.ts';
import { StorageUnavailable } from '../../ports/store.ts';
import { ApiError } from '../../shared/errors.ts';
import type { AnswerMoney, AskedCompletion, CompletionAnswer } from './answer.ts';
import type { CompletionEncoder, CompletionEnd } from './encoder.ts';
import type { AnswerWatch, CompletionRunServices } from './run.ts';
import { StreamedAnswer } from './streamed-answer.ts';

const COST: EndedCost = { charged: 5, usage: { input: 1, output: 2 } };
const hello = { type: 'text', text: 'Hello' } as const;

interface SetUp {
  readonly money?: boolean;
  readonly cost?: EndedCost | undefined;
  readonly awaitsReport?: boolean;
  readonly watch?: boolean;
  /** The end of the record of the key. */
  readonly onBreak?: () => Promise<void>;
}

/** An answer of scripted steps, whose log has the calls in their order. */
function open(steps: readonly (AnswerChunk | Error)[], setUp: SetUp = {}) {
  const { money: hasMoney = true, awaitsReport = false, watch: isWatched = true } = setUp;
  const cost = 'cost' in setUp ? setUp.cost : COST;
  const log: unknown[] = [];
  const queue = [...steps];
  const leaving = new AbortController();
  const source: CompletionAnswer['source'] = {
    async next() {
      const step = queue.shift();
      if (step instanceof Error) throw step;
      return step === undefined ? { done: true, value: undefined } : { done: false, value: step };
    },
    async return() {
      log.push('cancel');
      return { done: true, value: undefined };
    },
  };
  const money: AnswerMoney = {
    isMetered: true,
    meter: { record: (part) => void log.push(['record', part]), awaitsReport, finishReason: 'stop' },
    control: {
      stop: (reason) => void log.push(['stop', (reason as Error).message]),
      async cancelAfterDisconnect(reason) {
        log.push(['leave', (reason as Error).message]);
      },
    },
    async end(how) {
      log.push(['end', how]);
      return cost;
    },
    release: async () => undefined,
  };
  const ends: CompletionEnd[] = [];
  const encoder: CompletionEncoder = {
    head: 'head|',
    add: () => undefined,
    flush: () => 'step|',
    end(end) {
      ends.push(end);
      return 'end|';
    },
    fail(error, end) {
      ends.push(end);
      return `${error.status} ${error.message}|`;
    },
  };
  const watch: AnswerWatch = {
    async onComplete() {
      await turn();
      log.push('complete');
    },
    async onBreak(isCharged) {
      await turn();
      log.push(['break', isCharged]);
      await setUp.onBreak?.();
    },
  };
  const streams = new Set<unknown>();
  const services = {
    clock: createFakeClock(),
    onError: (incident: unknown) => void log.push(['incident', incident]),
    streams: {
      add(stream: unknown) {
        streams.add(stream);
        return () => streams.delete(stream);
      },
    },
  } as unknown as CompletionRunServices;
  const call = { requestId: 'r-1', signal: leaving.signal } as unknown as Call;
  const asked = { operation: 'ask', family: 'completions' } as unknown as AskedCompletion;
  const answer = new StreamedAnswer(
    { services, call, asked, watch: isWatched ? watch : undefined },
    { source, money: hasMoney ? money : undefined, entry: {} as never },
    encoder,
  );
  const stream = answer.open(source.next());
  return { answer, stream, log, ends, streams, leaving };
}

async function readAll(stream: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const part of stream) text += part;
  return text;
}

describe('streamed answer', () => {
  it('is settled and recorded before its last frames, and open until then', async () => {
    const { stream, log, ends, streams } = open([hello]);
    expect(streams.has(stream)).toBe(true);
    expect(await readAll(stream)).toBe('head|step|end|');
    expect(log.slice(0, 3)).toEqual([['record', hello], ['end', 'finished'], 'complete']);
    expect(ends).toEqual([{ cost: COST, isMetered: true, finishReason: 'stop' }]);
    expect(streams.size).toBe(0);
  });

  it('has an end without a cost when nothing was held', async () => {
    const { answer, stream, log, ends } = open([hello], { money: false, watch: false });
    expect(answer.awaitsReport()).toBe(false);
    expect(await readAll(stream)).toBe('head|step|end|');
    await answer.leave(async () => undefined).then(() => undefined);
    await answer.fail(new Error('gone'));
    expect(ends).toEqual([
      { cost: undefined, isMetered: false, finishReason: undefined },
      { cost: undefined, isMetered: false, finishReason: undefined },
    ]);
    expect(log).toEqual([['incident', expect.objectContaining({ operation: 'ask' })]]);
  });

  it.each([true, false])('awaits the report that its meter awaits: %s', (awaitsReport) => {
    expect(open([], { awaitsReport }).answer.awaitsReport()).toBe(awaitsReport);
  });
});

describe('streamed answer that breaks off', () => {
  it('reports the failure, stops its provider, settles and records the break', async () => {
    const error = new Error('gone');
    const { stream, log, ends, streams } = open([hello, error]);
    expect(await readAll(stream)).toBe('head|step|500 Model response error: the provider failed|');
    expect(log.slice(1, 5)).toEqual([
      ['incident', { operation: 'ask', requestId: 'r-1', error }],
      ['stop', 'gone'],
      ['end', 'broken'],
      ['break', true],
    ]);
    expect(ends).toEqual([{ cost: COST, isMetered: true, finishReason: 'stop' }]);
    expect(streams.size).toBe(0);
  });

  it('is free without a cost', async () => {
    const { stream, log } = open([new Error('gone')], { cost: undefined });
    await readAll(stream);
    expect(log).toContainEqual(['break', false]);
    expect(log).not.toContainEqual(['break', true]);
  });

  it('keeps a deliberate error, which is no incident', async () => {
    const { stream, log } = open([new ApiError(422, 'No.')]);
    expect(await readAll(stream)).toBe('head|422 No.|');
    expect(log).not.toContainEqual(['incident', expect.anything()]);
  });

  it('says that storage is away', async () => {
    const { stream } = open([new StorageUnavailable('away')]);
    expect(await readAll(stream)).toMatch(/^head\|503 /);
  });
});

describe('streamed answer that its client leaves', () => {
  it.each([
    ['is charged', COST, true],
    ['is free without a cost', undefined, false],
  ])('%s after its provider is stopped', async (_, cost, isCharged) => {
    const { stream, log, streams, leaving } = open([hello], { cost });
    await stream.next();
    await stream.next();
    leaving.abort();
    expect(await stream.next()).toEqual({ done: true, value: undefined });
    expect(log.filter((entry) => entry !== 'cancel').slice(1)).toEqual([
      ['leave', 'the client has disconnected'],
      ['end', 'left'],
      ['break', isCharged],
    ]);
    expect(log.indexOf('cancel')).toBeLessThan(log.findIndex((entry) => String(entry) === 'end,left'));
    expect(streams.size).toBe(0);
  });

  it('is no longer open when the record of its key fails', async () => {
    const { stream, streams } = open([hello], { onBreak: () => Promise.reject(new Error('away')) });
    await stream.next();
    await expect(stream.return()).rejects.toThrow('away');
    expect(streams.size).toBe(0);
  });
});
