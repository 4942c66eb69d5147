import { setImmediate as turn } from 'node:timers/promises';
import { type CompletionFrame, collect, complete, type EventStream, type Operation } from '@questline/client';
import { describe, expect, it, vi } from 'vitest';
import { createScriptedClient, eventResponse } from './support.ts';

const STREAM: Operation<Record<never, never>, EventStream<unknown>> = {
  id: 'stream',
  method: 'GET',
  path: '/stream',
};

/** Opens a stream of the server. */
async function open(response: Response, signal?: AbortSignal): Promise<EventStream<unknown>> {
  return createScriptedClient([response]).client.call(STREAM, {}, { signal });
}

async function read(text: string): Promise<unknown[]> {
  const frames: unknown[] = [];
  for await (const frame of await open(eventResponse(text))) frames.push(frame);
  return frames;
}

/** A stream that stays open, and whether it was closed. */
function createOpen(text: string) {
  const state = { isClosed: false };
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode(text)),
    cancel() {
      state.isClosed = true;
    },
  });
  return { state, response: new Response(body, { headers: { 'content-type': 'text/event-stream' } }) };
}

describe('the fields of an event', () => {
  it('may have a space after the colon, and lines that are joined', async () => {
    expect(await read('data:{"a":1}\n\ndata: {"a":\ndata:2}\n\ndata: [DONE]\n\n')).toEqual([
      { a: 1 },
      { a: 2 },
    ]);
  });

  it('are no event without data', async () => {
    expect(await read(': comment\n\nid: 1\nevent: x\n\ndata: {"a":1}\n\ndata: [DONE]\n\n')).toEqual([
      { a: 1 },
    ]);
  });

  it('of one name do not add up, except for data', async () => {
    for (const text of ['id: 1\nid: 2\ndata: {"a":1}', 'data: {"a":1}\nid: 2']) {
      const stream = await open(eventResponse(`${text}\n\ndata: [DONE]\n\n`));
      const frames = stream[Symbol.asyncIterator]();
      expect(await frames.next()).toEqual({ done: false, value: { a: 1 } });
      expect(stream.lastId).toBe('2');
    }
  });

  it('keep the last id', async () => {
    const stream = await open(eventResponse('id: 7\ndata: {"a":1}\n\ndata: {"a":2}\n\ndata: [DONE]\n\n'));
    expect(stream.lastId).toBeUndefined();
    for await (const _ of stream) expect(stream.lastId).toBe('7');
  });
});

describe('the end of a stream', () => {
  it('is its last frame, or a frame that says so', async () => {
    expect(await read('data: {"type":"end"}\n\n')).toEqual([{ type: 'end' }]);
    await expect(read('data: {"type":"end"}\n\ndata: {"type":"text"}\n\n')).rejects.toMatchObject({
      code: 'stream_interrupted',
    });
    await expect(read('')).rejects.toMatchObject({
      message: 'The connection broke off before the end of the stream.',
      code: 'stream_interrupted',
      requestId: 'r-1',
      cause: undefined,
    });
  });

  it('comes once, also after a failure', async () => {
    const DONE = { done: true, value: undefined };
    const broken = new TypeError('terminated');
    for (const response of [
      eventResponse('data: [DONE]\n\ndata: {"a":1}\n\n'),
      eventResponse(''),
      eventResponse('', { failure: broken }),
      eventResponse('data: {"type":"error"}\n\ndata: {"a":1}\n\n'),
      eventResponse('data: {"type":"end"}\n\n'),
    ]) {
      const frames = (await open(response))[Symbol.asyncIterator]();
      for (let turn = 0; turn < 2; turn += 1) await frames.next().catch(() => undefined);
      expect(await frames.next()).toEqual(DONE);
    }
  });

  it('closes the connection', async () => {
    for (const text of ['data: [DONE]\n\n', 'data: {"type":"error"}\n\n']) {
      const { response, state } = createOpen(text);
      const frames = (await open(response))[Symbol.asyncIterator]();
      await frames.next().catch(() => undefined);
      expect(state.isClosed).toBe(true);
    }
  });

  it('waits until the connection is closed', async () => {
    for (const [text, turns, end] of [
      ['data: [DONE]\n\n', 1, 'next'],
      ['data: {"type":"error"}\n\n', 1, 'next'],
      ['data: {"a":1}\n\n', 2, 'return'],
    ] as const) {
      let close: (() => void) | undefined;
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(new TextEncoder().encode(text)),
        cancel: () =>
          new Promise<void>((resolve) => {
            close = resolve;
          }),
      });
      const headers = { 'content-type': 'text/event-stream' };
      const frames = (await open(new Response(body, { headers })))[Symbol.asyncIterator]();
      if (turns === 2) await frames.next();
      let isOver = false;
      const ending = frames[end]?.()
        .catch(() => undefined)
        .finally(() => {
          isOver = true;
        });
      await vi.waitFor(() => expect(close).not.toBeUndefined());
      await turn();
      expect(isOver).toBe(false);
      close?.();
      await ending;
    }
  });

  it('is an error with what its frame says', async () => {
    const failed = (frame: object) => read(`data: ${JSON.stringify({ type: 'error', ...frame })}\n\n`);
    const whole = { message: 'No.', code: 'a', requestId: 'r-2', credits: { used: 3 } };
    await expect(failed(whole)).rejects.toMatchObject({
      ...{ name: 'QuestlineError', message: 'No.', code: 'a', requestId: 'r-2' },
      charge: { credits: 3 },
      body: { type: 'error', ...whole },
    });
    await expect(failed({ errorCode: 'b', request_id: 'r-3' })).rejects.toMatchObject({
      ...{ message: 'The stream failed.', code: 'b', requestId: 'r-3', charge: undefined },
    });
    await expect(failed({})).rejects.toMatchObject({ code: undefined, requestId: 'r-1' });
  });

  it('is the reason of a signal that was aborted', async () => {
    const reason = new Error('left');
    for (const response of [eventResponse(''), eventResponse('', { failure: new TypeError('terminated') })]) {
      const controller = new AbortController();
      const frames = (await open(response, controller.signal))[Symbol.asyncIterator]();
      controller.abort(reason);
      await expect(frames.next()).rejects.toBe(reason);
    }
  });

  it('can be early: the reader leaves, or cancels', async () => {
    const left = createOpen('data: {"a":1}\n\n');
    for await (const _ of await open(left.response)) break;
    expect(left.state.isClosed).toBe(true);
    const cancelled = createOpen('data: {"a":1}\n\n');
    const stream = await open(cancelled.response);
    expect(await stream.cancel()).toBeUndefined();
    expect(cancelled.state.isClosed).toBe(true);
    expect(await stream[Symbol.asyncIterator]().next()).toEqual({ done: true, value: undefined });
  });

  it('can be early on a connection that has broken off', async () => {
    const broken = eventResponse('data: {"a":1}\n\n', { failure: new TypeError('terminated') });
    const stream = await open(broken);
    const frames = stream[Symbol.asyncIterator]();
    await frames.next();
    await expect(frames.next()).rejects.toMatchObject({ code: 'stream_interrupted' });
    expect(await stream.cancel()).toBeUndefined();
  });

  it('is at once without a body', async () => {
    const response = new Response(null, { headers: { 'content-type': 'text/event-stream' } });
    const stream = await open(response);
    await expect(stream[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'stream_interrupted' });
    await stream.cancel();
  });
});

describe('a whole completion', () => {
  it('joins texts and tool calls, and has the facts of its last frame', async () => {
    const frames = [
      { type: 'meta', requestId: 'r' },
      { type: 'content', text: 'One ', stopReason: 'unread' },
      { type: 'tool_use', text: 'two', tools: [{ id: 'a', name: 'x', input: {} }] },
      { type: 'later', text: 'unread' },
      {
        ...{ type: 'tool_use', text: '', tools: [{ id: 'b', name: 'y', input: {} }] },
        ...{ usage: { inputTokens: 1, outputTokens: 2 }, credits: { used: 3 }, stopReason: 'tool_use' },
      },
    ] as unknown as CompletionFrame[];
    async function* all(list: readonly CompletionFrame[]) {
      yield* list;
    }
    expect(await collect(all(frames))).toEqual({
      text: 'One two',
      tools: [
        { id: 'a', name: 'x', input: {} },
        { id: 'b', name: 'y', input: {} },
      ],
      usage: { inputTokens: 1, outputTokens: 2 },
      credits: { used: 3 },
      stopReason: 'tool_use',
    });
    expect(await collect(all([]))).toEqual({
      ...{ text: '', tools: [] },
      ...{ usage: undefined, credits: undefined, stopReason: undefined },
    });
  });

  it('is asked for with the request and the options', async () => {
    const { client, sent } = createScriptedClient([eventResponse('data: [DONE]\n\n')]);
    const request = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] } as const;
    const frames = complete(client, request, { headers: { 'x-tenant': 'a' } });
    expect(sent).toEqual([]);
    expect(await frames.next()).toEqual({ done: true, value: undefined });
    expect(JSON.parse(String(sent[0]?.init.body))).toEqual(request);
    expect(sent[0]?.headers.get('x-tenant')).toBe('a');
  });
});
