import { describe, expect, it } from 'vitest';
import { answer, drain, hello, readParts } from './collect.ts';
import { never, openAI } from './set-up.ts';

describe('cancellation stops the provider', () => {
  it('aborts before the headers of the answer', async () => {
    const { provider, upstream } = await openAI({ wait: never });
    const leaving = new AbortController();
    const call = provider.generate(hello, { signal: leaving.signal });
    const request = await upstream.request(0);
    leaving.abort(new Error('left'));
    await expect(call).rejects.toThrow('left');
    await request.disconnected;
  });

  it('cancels before the first token', async () => {
    const { provider, upstream } = await openAI({ steps: [{ raw: ': open\n\n' }, { wait: never }] });
    const leaving = new AbortController();
    const stream = await provider.generate(hello, { signal: leaving.signal });
    const first = drain({ [Symbol.asyncIterator]: () => stream[Symbol.asyncIterator]() });
    leaving.abort(new Error('left'));
    await expect(first).rejects.toThrow('left');
    await (await upstream.request(0)).disconnected;
  });

  it('aborts in the middle after delivering the received parts', async () => {
    const { provider, upstream } = await openAI({ steps: [{ text: 'a' }, { wait: never }] });
    const leaving = new AbortController();
    const texts: string[] = [];
    const reading = (async () => {
      for await (const chunk of await provider.generate(hello, { signal: leaving.signal })) {
        for (const part of readParts(chunk)) if (part.type === 'text') texts.push(part.text);
        leaving.abort(new Error('left'));
      }
    })();
    await expect(reading).rejects.toThrow('left');
    expect(texts).toEqual(['a']);
    await (await upstream.request(0)).disconnected;
  });

  it('cancels when the consumer breaks out of the loop', async () => {
    const { provider, upstream } = await openAI({ steps: [{ text: 'a' }, { wait: never }] });
    for await (const _chunk of await provider.generate(hello, {})) break;
    await (await upstream.request(0)).disconnected;
  });

  it('cancels on return before the first step and while a step waits', async () => {
    const { provider, upstream } = await openAI({ steps: [{ text: 'a' }, { wait: never }] });
    const unread = (await provider.generate(hello, {}))[Symbol.asyncIterator]();
    await unread.return?.();
    expect(await unread.next()).toEqual({ done: true, value: undefined });
    await (await upstream.request(0)).disconnected;

    const waiting = (await provider.generate(hello, {}))[Symbol.asyncIterator]();
    await waiting.next();
    const step = waiting.next();
    await waiting.return?.();
    expect(await step).toEqual({ done: true, value: undefined });
    await (await upstream.request(1)).disconnected;
  });

  it('makes no call when it is aborted before the start', async () => {
    const { provider, upstream } = await openAI();
    const call = provider.generate(hello, { signal: AbortSignal.abort(new Error('left')) });
    await expect(call).rejects.toThrow('left');
    expect(upstream.requests).toHaveLength(0);
  });

  it('cancels while waiting for a free connection', async () => {
    const { provider, upstream } = await openAI({ steps: [{ wait: never }] }, { connections: 1 });
    const first = await provider.generate(hello, {});
    const leaving = new AbortController();
    const second = provider.generate(hello, { signal: leaving.signal });
    leaving.abort(new Error('left'));
    await expect(second).rejects.toThrow('left');
    await first[Symbol.asyncIterator]().return?.();
    upstream.use({});
    await answer(provider);
    expect(upstream.requests).toHaveLength(2);
  });

  it('leaves no listener on the signal', async () => {
    const { provider } = await openAI();
    const { signal } = new AbortController();
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners += 1;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners -= 1;
      remove(...args);
    };
    await answer(provider, hello, { signal });
    expect(listeners).toBe(0);
  });
});
