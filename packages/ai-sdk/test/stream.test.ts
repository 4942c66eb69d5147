import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { ModelChunk, ModelPart } from '@questline/core';
import { describe, expect, test } from 'vitest';
import { chunksOf, failureOf, finish, hello, providerOf, scripted, textParts } from './scripted.ts';

type Controller = ReadableStreamDefaultController<LanguageModelV4StreamPart>;

/** A model whose stream the test feeds by hand. */
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
/** Lets everything that is ready happen. */
const settle = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));
const gone = new Error('gone');

async function start(model: ReturnType<typeof fed>, signal?: AbortSignal) {
  const stream = await providerOf(model.model).generate(hello, signal ? { signal } : {});
  return stream[Symbol.asyncIterator]();
}

describe('chunks', () => {
  test('hold all that one turn brought', async () => {
    const { model } = scripted([...textParts('a', 'b', 'c'), finish]);
    const chunks = await chunksOf(await providerOf(model).generate(hello, {}));
    expect(chunks).toHaveLength(1);
    expect((chunks[0] as ModelPart[]).map((part) => part.type)).toEqual([
      'text',
      'text',
      'text',
      'usage',
      'finish',
    ]);
  });

  test('do not wait for more than one turn', async () => {
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

  test('are not gathered without end while nobody reads', async () => {
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
    const iterator = (await providerOf(model).generate(hello, {}))[Symbol.asyncIterator]();
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

describe('leaving', () => {
  test('by return cancels the stream and aborts the call, also while waiting', async () => {
    const model = fed();
    const iterator = await start(model);
    const waiting = iterator.next();
    await iterator.return?.();
    expect((await waiting).done).toBe(true);
    expect(model.cancelled).toHaveLength(1);
    expect(model.calls[0]?.abortSignal?.aborted).toBe(true);
    expect((await iterator.next()).done).toBe(true);
  });

  test('by return before the first read does the same', async () => {
    const model = fed();
    const iterator = await start(model);
    await iterator.return?.();
    expect(model.cancelled).toHaveLength(1);
    expect(model.calls[0]?.abortSignal?.aborted).toBe(true);
  });

  test('by abort ends the stream with the reason, also when the model does not care', async () => {
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

  test('by abort while the model has not accepted yet rejects at once, and throws a late stream away', async () => {
    let accept = () => {};
    const wait = new Promise<void>((resolve) => {
      accept = resolve;
    });
    const { model, cancelled, calls } = scripted({ wait });
    const abort = new AbortController();
    const call = providerOf(model).generate(hello, { signal: abort.signal });
    await settle();
    abort.abort(gone);
    expect(await failureOf(call)).toBe(gone);
    expect(calls[0]?.abortSignal?.aborted).toBe(true);
    accept();
    await settle();
    expect(cancelled).toEqual([gone]);
  });

  test('before the call makes no call', async () => {
    const model = fed();
    expect(await failureOf(start(model, AbortSignal.abort(gone)))).toBe(gone);
    expect(model.calls).toHaveLength(0);
  });

  test('after the end does nothing', async () => {
    const { model, cancelled, calls } = scripted([...textParts('a'), finish]);
    const abort = new AbortController();
    const stream = await providerOf(model).generate(hello, { signal: abort.signal });
    await chunksOf(stream);
    abort.abort(gone);
    await stream[Symbol.asyncIterator]().return?.();
    expect(cancelled).toHaveLength(0);
    expect(calls[0]?.abortSignal?.aborted).toBe(false);
  });

  test('a stream that breaks fails once and is over', async () => {
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
