import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type SendOptions, sendToFetch, toResponse } from '../../test/fetch-answer.ts';
import { createStreamedBody } from '../../test/streamed-body.ts';
import type { ApiResponse } from '../contract/message.ts';

describe('a streamed answer to fetch', () => {
  const open = async (body: ApiResponse['body'], options: SendOptions = {}, status = 200) => {
    const { answer, seen } = await sendToFetch(toResponse(body, { status }), options);
    return { reader: answer?.body?.getReader(), answer, signal: seen[0]?.signal };
  };
  const toText = (step: { done: boolean; value?: Uint8Array | undefined } | undefined) =>
    step?.value === undefined ? step?.done : Buffer.from(step.value).toString();

  it('is read when its reader reads, and no sooner', async () => {
    const { body, counts, give, end } = createStreamedBody();
    const { reader, answer } = await open(body, {}, 202);
    await turn();
    expect(counts().asked).toBe(0);
    expect([answer?.status, Object.fromEntries(answer?.headers ?? [])]).toEqual([
      202,
      { 'content-type': 'text/plain' },
    ]);
    const first = reader?.read();
    await turn();
    give('a');
    expect(toText(await first)).toBe('a');
    await turn();
    // Its reader does not read: what comes next waits, and no more is asked for.
    give(new Uint8Array([98]));
    await turn();
    expect(counts()).toEqual({ open: 0, asked: 2, returns: 0 });
    expect(toText(await reader?.read())).toBe('b');
    const last = reader?.read();
    await turn();
    give('c');
    expect(toText(await last)).toBe('c');
    end();
    expect(toText(await reader?.read())).toBe(true);
  });

  it('ends with the text of its last tick', async () => {
    const ready = async function* () {
      yield 'a';
      yield 'b';
    };
    expect(await (await sendToFetch(toResponse(ready()))).answer?.text()).toBe('ab');
  });

  it('breaks off when its source fails', async () => {
    const { body, fail } = createStreamedBody();
    const { reader } = await open(body);
    const step = reader?.read();
    await turn();
    fail();
    await expect(step).rejects.toThrow('the answer broke off');
  });

  it('is stopped when its reader stops', async () => {
    const { body, counts } = createStreamedBody();
    const { reader, signal } = await open(body);
    expect(signal?.aborted).toBe(false);
    void reader?.read();
    await turn();
    await reader?.cancel();
    expect([counts().returns, signal?.aborted]).toEqual([1, true]);
  });

  it.each([
    ['to HEAD', { method: 'HEAD' }, 200],
    ['to a client that has left', { signal: AbortSignal.abort() }, 200],
    ['without a body', {}, 204],
  ])('is discarded: %s', async (_, options, status) => {
    const { body, counts } = createStreamedBody();
    const { answer } = await sendToFetch(toResponse(body, { status }), options);
    expect([answer?.status, answer?.body, counts().returns]).toEqual([status, null, 1]);
    expect(answer?.headers.get('content-type')).toBe('text/plain');
  });
});
