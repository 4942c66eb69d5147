import { collect, complete } from '@questline/client';
import * as operations from '@questline/client/operations';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createChatApp, silent } from '../../../test/support/chat.ts';
import type { ModelCall } from '../../../test/support/model.ts';
import type { TestApp } from '../../../test/support/test-app.ts';
import { createAppClient, createScriptedClient, eventResponse } from './support.ts';

const COMPLETION = { model: 'scripted', messages: [{ role: 'user', content: 'Hi' }] } as const;
const FRAMES = [
  { type: 'meta', requestId: 'r-1' },
  { type: 'content', text: 'Grüße \u{1F600}\n' },
  { type: 'content', text: '', usage: { inputTokens: 1, outputTokens: 2 }, stopReason: 'stop' },
];
const lines = (end: string): string =>
  [...FRAMES.map((frame) => `data: ${JSON.stringify(frame)}${end}${end}`), `data: [DONE]${end}${end}`].join(
    '',
  );
const TEXT = lines('\n');

async function read(response: Response): Promise<unknown[]> {
  const { client } = createScriptedClient([response]);
  const frames: unknown[] = [];
  for await (const frame of complete(client, COMPLETION)) frames.push(frame);
  return frames;
}

describe('the frames of a completion', () => {
  it.each([1, 2, 3, 7, 1000])('arrive whole in pieces of %i bytes', async (length) => {
    for (const end of ['\n', '\r\n', '\r']) {
      expect(await read(eventResponse(`: keep-alive${end}${end}${lines(end)}`, { length }))).toEqual(FRAMES);
    }
  });

  // Searching all that has arrived at each piece would take minutes.
  it('arrive whole when one has megabytes in thousands of pieces', async () => {
    const frame = { type: 'content', text: 'x'.repeat(2 ** 24) };
    const text = `data: ${JSON.stringify(frame)}\n\ndata: [DONE]\n\n`;
    expect(await read(eventResponse(text, { length: 4096 }))).toEqual([frame]);
  });

  it('end with an error wherever the connection breaks off, and never with half a frame', async () => {
    const starts = [...TEXT.matchAll(/data: /g)].map(({ index }) => Buffer.byteLength(TEXT.slice(0, index)));
    const bytes = Buffer.from(TEXT);
    const broken = new TypeError('terminated');
    for (let length = 0; length < bytes.length; length += 1) {
      for (const failure of [undefined, broken]) {
        const head = new ReadableStream<Uint8Array>({
          start(controller) {
            controller.enqueue(bytes.subarray(0, length));
            if (failure === undefined) controller.close();
          },
          pull(controller) {
            controller.error(failure);
          },
        });
        const { client } = createScriptedClient([
          new Response(head, { headers: { 'content-type': 'text/event-stream', 'x-request-id': 'r-1' } }),
        ]);
        const frames: unknown[] = [];
        const reading = (async () => {
          for await (const frame of complete(client, COMPLETION)) frames.push(frame);
        })();
        await expect(reading).rejects.toMatchObject({
          code: 'stream_interrupted',
          requestId: 'r-1',
          cause: failure,
        });
        const whole = starts.slice(1).filter((start) => start <= length).length;
        expect(frames).toEqual(FRAMES.slice(0, whole));
      }
    }
  });

  it('are joined by collect', async () => {
    const { client } = createScriptedClient([eventResponse(TEXT)]);
    expect(await collect(complete(client, COMPLETION))).toEqual({
      text: 'Grüße \u{1F600}\n',
      tools: [],
      usage: { inputTokens: 1, outputTokens: 2 },
      credits: undefined,
      stopReason: 'stop',
    });
  });

  it('of a later version are passed on', async () => {
    const text = `event: x\nid: 7\ndata: {"type":"later",\ndata: "a":1}\n\n${TEXT}`;
    expect(await read(eventResponse(text))).toEqual([{ type: 'later', a: 1 }, ...FRAMES]);
  });
});

describe('a completion', () => {
  async function createApp(onCall: (call: ModelCall) => void) {
    const app = await createChatApp({ onCall });
    onTestFinished(() => app.api.close());
    return app;
  }
  /** Begins an answer that does not end by itself. */
  const begin = (call: ModelCall): void => call.say({ type: 'text', text: 'Hi' });
  const expectNothingHeld = (app: TestApp): Promise<void> =>
    vi.waitFor(async () => expect((await app.ledger.balance(app.account)).held).toBe(0), { timeout: 60_000 });

  it('stops the model when the reader leaves the loop', async () => {
    const app = await createApp(begin);
    for await (const frame of complete(createAppClient(app), COMPLETION)) if (frame.type === 'content') break;
    await app.calls[0]?.whenStopped;
    await expectNothingHeld(app);
  });

  it('stops the model when it is aborted before the first frame', async () => {
    const app = await createApp(silent);
    const controller = new AbortController();
    const reason = new Error('left');
    const first = complete(createAppClient(app), COMPLETION, { signal: controller.signal }).next();
    await vi.waitFor(() => expect(app.calls).toHaveLength(1), { timeout: 60_000 });
    controller.abort(reason);
    await expect(first).rejects.toBe(reason);
    await app.calls[0]?.whenStopped;
    await expectNothingHeld(app);
  });

  it('stops the model when it is aborted after the first frame', async () => {
    const app = await createApp(begin);
    const controller = new AbortController();
    const reason = new Error('left');
    const frames = complete(createAppClient(app), COMPLETION, { signal: controller.signal });
    await frames.next();
    await frames.next();
    const next = frames.next();
    controller.abort(reason);
    await expect(next).rejects.toBe(reason);
    await app.calls[0]?.whenStopped;
    await expectNothingHeld(app);
  });

  it('stops the model when its stream is cancelled without being read', async () => {
    const app = await createApp(begin);
    const stream = await createAppClient(app).call(operations.createCompletion, { body: COMPLETION });
    await stream.cancel();
    await app.calls[0]?.whenStopped;
    await expectNothingHeld(app);
  });
});
