import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { ModelChunk, ModelPart } from '@questline/core/ports';
import { describe, expect, test } from 'vitest';
import { finish, getChunks, getProvider, hello, scripted, textParts, toFailure } from './scripted.ts';

type Controller = ReadableStreamDefaultController<LanguageModelV4StreamPart>;

/** A model whose stream is fed by the test. */
function fed() {
  let controller: Controller | undefined;
  const model = scripted((own) => {
    controller = own;
  });
  const say = (...parts: LanguageModelV4StreamPart[]) => {
    for (const part of parts) controller?.enqueue(part);
  };
  return { ...model, say, controller: () => controller as Controller };
}

const delta = (text: string): LanguageModelV4StreamPart => ({ type: 'text-delta', id: '0', delta: text });
/** Runs all pending microtasks and immediates. */
const settle = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));
const gone = new Error('gone');

async function start(model: ReturnType<typeof fed>, signal?: AbortSignal) {
  const stream = await getProvider(model.model).generate(hello, signal ? { signal } : {});
  return stream[Symbol.asyncIterator]();
}

describe('stream chunks of the bridge', () => {
  test('groups everything of one event loop turn in a chunk', async () => {
    const { model } = scripted([...textParts('a', 'b', 'c'), finish]);
    const chunks = await getChunks(await getProvider(model).generate(hello, {}));
    expect(chunks).toHaveLength(1);
    expect((chunks[0] as ModelPart[]).map((part) => part.type)).toEqual([
      'text',
      'text',
      'text',
      'usage',
      'finish',
    ]);
  });

  test('never waits longer than one event loop turn for a chunk', async () => {
    const model = fed();
    const iterator = await start(model);
    const chunks: ModelChunk[] = [];
    const read = async () => {
      const step = await iterator.next();
      if (!step.done) chunks.push(step.value);
    };
    let reading = read();
    model.say(delta('a'), delta('b'));
    await reading;
    reading = read();
    await settle();
    model.say(delta('c'));
    await reading;
    expect(chunks).toEqual([
      [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
      [{ type: 'text', text: 'c' }],
    ]);
  });

  test('limits buffered chunks while the reader is idle', async () => {
    let pulled = 0;
    const stream = new ReadableStream<LanguageModelV4StreamPart>(
      {
        pull(controller) {
          pulled += 1;
          if (pulled <= 10_000) controller.enqueue(delta(`${pulled} `));
          else {
            controller.enqueue(finish);
            controller.close();
          }
        },
      },
      { highWaterMark: 0 },
    );
    const { model } = scripted([], { doStream: async () => ({ stream }) });
    const iterator = (await getProvider(model).generate(hello, {}))[Symbol.asyncIterator]();
    const first = await iterator.next();
    await settle();
    await settle();
    expect(pulled).toBeLessThan(1000);
    let seen = (first.value as ModelPart[]).length;
    for (let step = await iterator.next(); !step.done; step = await iterator.next()) {
      seen += (step.value as ModelPart[]).length;
    }
    expect(seen).toBe(10_002);
  });
});

describe('cancellation of a bridge stream', () => {
  test('cancels the stream and aborts the call on return, even while a read waits', async () => {
    const model = fed();
    const iterator = await start(model);
    const waiting = iterator.next();
    await iterator.return?.();
    expect((await waiting).done).toBe(true);
    expect(model.cancelled).toHaveLength(1);
    expect(model.calls[0]?.abortSignal?.aborted).toBe(true);
    expect((await iterator.next()).done).toBe(true);
  });

  test('cancels the stream on return before the first read', async () => {
    const model = fed();
    const iterator = await start(model);
    await iterator.return?.();
    expect(model.cancelled).toHaveLength(1);
    expect(model.calls[0]?.abortSignal?.aborted).toBe(true);
  });

  test('ends the stream with the abort reason even if the model ignores the signal', async () => {
    const model = fed();
    const abort = new AbortController();
    const iterator = await start(model, abort.signal);
    model.say(delta('a'));
    await iterator.next();
    const waiting = iterator.next();
    abort.abort(gone);
    await expect(waiting).rejects.toBe(gone);
    expect(model.cancelled).toEqual([gone]);
    expect(model.calls[0]?.abortSignal?.reason).toBe(gone);
    expect((await iterator.next()).done).toBe(true);
  });

  test('rejects at once when aborted before acceptance, and discards a late stream', async () => {
    let accept = () => {};
    const wait = new Promise<void>((resolve) => {
      accept = resolve;
    });
    const { model, cancelled, calls } = scripted({ wait });
    const abort = new AbortController();
    const call = getProvider(model).generate(hello, { signal: abort.signal });
    await settle();
    abort.abort(gone);
    expect(await toFailure(call)).toBe(gone);
    expect(calls[0]?.abortSignal?.aborted).toBe(true);
    accept();
    await settle();
    expect(cancelled).toEqual([gone]);
  });

  test('makes no call when aborted before it', async () => {
    const model = fed();
    expect(await toFailure(start(model, AbortSignal.abort(gone)))).toBe(gone);
    expect(model.calls).toHaveLength(0);
  });

  test('does nothing when aborted after the end', async () => {
    const { model, cancelled, calls } = scripted([...textParts('a'), finish]);
    const abort = new AbortController();
    const stream = await getProvider(model).generate(hello, { signal: abort.signal });
    await getChunks(stream);
    abort.abort(gone);
    await stream[Symbol.asyncIterator]().return?.();
    expect(cancelled).toHaveLength(0);
    expect(calls[0]?.abortSignal?.aborted).toBe(false);
  });

  test('fails once and ends when the stream breaks', async () => {
    const model = fed();
    const iterator = await start(model);
    model.say(delta('a'));
    await iterator.next();
    model.controller().error(new Error('socket hang up'));
    await expect(iterator.next()).rejects.toMatchObject({
      kind: 'failed',
      message: 'bridge: socket hang up',
    });
    expect((await iterator.next()).done).toBe(true);
  });
});
