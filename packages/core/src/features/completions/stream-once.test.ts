import { describe, expect, it } from 'vitest';
import type { Call } from '../../contract/call.ts';
import type { Claim, IdempotentRequest } from '../../operations/idempotency.ts';
import { ApiError } from '../../shared/errors.ts';
import type { AskedCompletion } from './answer.ts';
import type { CompletionEncoder, CompletionEnd } from './encoder.ts';
import type { AnswerWatch } from './run.ts';
import { type StreamOnceServices, streamOnce } from './stream-once.ts';

const END: CompletionEnd = { cost: undefined, isMetered: false, finishReason: 'stop' };
const text = (value: string) => ({ type: 'text', text: value }) as const;

/** An encoder whose frames are the texts since the frame before, in brackets. */
function createEncoder(keepAlive?: () => string): CompletionEncoder {
  let buffered = '';
  return {
    head: 'head',
    ...(keepAlive !== undefined && { keepAlive }),
    add(part) {
      if (part.type === 'text') buffered += part.text;
    },
    flush() {
      const frames = buffered === '' ? '' : `[${buffered}]`;
      buffered = '';
      return frames;
    },
    end: ({ finishReason }) => `end ${finishReason}`,
    fail: ({ message }, { finishReason }) => `fail ${message} ${finishReason}`,
  };
}

interface SetUp {
  readonly claim?: Claim<string> | 'none' | 'open';
  readonly keepAlive?: () => string;
  /** The failure of the record of the key. */
  readonly failure?: Error;
  /** Streams no answer. */
  readonly isSilent?: boolean;
}

/** Starts a request, whose answer the test writes with its encoder. */
async function start({ claim = 'open', keepAlive, failure, isSilent = false }: SetUp = {}) {
  const log: unknown[] = [];
  const record = async (entry: unknown): Promise<void> => {
    log.push(entry);
    if (failure !== undefined) throw failure;
  };
  const open: Claim<string> = {
    isRepeated: false,
    end: {
      complete: (answer) => record(['complete', answer]),
      fail: (isCharged) => record(['fail', isCharged]),
    },
  };
  const services = {
    idempotency: {
      claim: () => (claim === 'none' ? undefined : Promise.resolve(claim === 'open' ? open : claim)),
    },
    onError: (incident: unknown) => void log.push(incident),
  } as unknown as StreamOnceServices;
  const call = { requestId: 'r-1' } as Call;
  const asked = { operation: 'ask' } as AskedCompletion;
  let encoder: CompletionEncoder | undefined;
  let watch: AnswerWatch | undefined;
  const frames = (async function* () {})();
  const streamed = await streamOnce(
    services,
    { call } as IdempotentRequest,
    asked,
    () => createEncoder(keepAlive),
    async (given, givenCall, givenAsked, create, givenWatch) => {
      expect([given, givenCall, givenAsked]).toEqual([services, call, asked]);
      if (!isSilent) encoder = create({ entry: {} as never });
      watch = givenWatch;
      return frames;
    },
  );
  return { streamed, encoder, watch, log, frames };
}

async function readAll(frames: AsyncIterable<string>): Promise<string[]> {
  const list: string[] = [];
  for await (const frame of frames) list.push(frame);
  return list;
}

describe('stream of a request without a key', () => {
  it('is the answer, which nothing follows', async () => {
    const { streamed, watch, frames } = await start({ claim: 'none' });
    expect(streamed).toEqual({ frames, isRepeated: false });
    expect(watch).toBeUndefined();
  });
});

describe('stream of a repeated request', () => {
  it('is the first answer in one frame', async () => {
    const { streamed, encoder } = await start({ claim: { isRepeated: true, answer: 'first' } });
    expect(streamed.isRepeated).toBe(true);
    expect(await readAll(streamed.frames)).toEqual(['first']);
    expect(encoder).toBeUndefined();
  });
});

describe('stream of the first request with a key', () => {
  it('is sent as it arrives, and kept with one frame per kind of content', async () => {
    const { streamed, encoder, watch, log, frames } = await start();
    expect(streamed).toEqual({ frames, isRepeated: false });
    expect(encoder?.head).toBe('head');
    encoder?.add(text('a'));
    expect(encoder?.flush()).toBe('[a]');
    encoder?.add(text('b'));
    expect(encoder?.flush()).toBe('[b]');
    expect(encoder?.end(END)).toBe('end stop');
    await watch?.onComplete();
    expect(log).toEqual([['complete', 'head[ab]end stop']]);
  });

  it('is kept empty when no answer was written', async () => {
    const { watch, log } = await start({ isSilent: true });
    await watch?.onComplete();
    expect(log).toEqual([['complete', '']]);
  });

  it.each([true, false])('uses up its key when it breaks off after a charge: %s', async (isCharged) => {
    const { encoder, watch, log } = await start();
    encoder?.add(text('a'));
    expect(encoder?.fail(new ApiError(500, 'gone'), END)).toBe('fail gone stop');
    await watch?.onBreak(isCharged);
    expect(log).toEqual([['fail', isCharged]]);
  });

  it('is kept open as its wire does, by default with a comment', async () => {
    expect((await start()).encoder?.keepAlive?.()).toBe(': keep-alive\n\n');
    expect((await start({ keepAlive: () => 'ping' })).encoder?.keepAlive?.()).toBe('ping');
  });

  it('reports a failure of the record of its key, and goes on', async () => {
    const error = new Error('away');
    const { watch, log } = await start({ failure: error });
    await watch?.onComplete();
    await watch?.onBreak(true);
    const incident = { operation: 'ask', requestId: 'r-1', error };
    expect(log).toEqual([['complete', ''], incident, ['fail', true], incident]);
  });
});
