import { describe, expect, it } from 'vitest';
import { createRelay } from './relay.ts';

const MAX_WAITING = 262_144;
const OVER = { done: true, value: undefined };

describe('frames for a client', () => {
  it('are those that wait, at once, or the next one', async () => {
    const { frames, push } = createRelay();
    push('a');
    push('b');
    expect(await frames.next()).toEqual({ done: false, value: 'ab' });
    const next = frames.next();
    push('c');
    push('d');
    expect(await next).toEqual({ done: false, value: 'c' });
    expect(await frames.next()).toEqual({ done: false, value: 'd' });
  });

  it('end after those that wait', async () => {
    const { frames, push, end } = createRelay();
    push('a');
    end();
    push('late');
    expect([await frames.next(), await frames.next(), await frames.next()]).toEqual([
      { done: false, value: 'a' },
      OVER,
      OVER,
    ]);
  });

  it('end for a client that waits', async () => {
    const { frames, end } = createRelay();
    const next = frames.next();
    end();
    expect(await next).toEqual(OVER);
  });

  it('are dropped when the client leaves', async () => {
    const { frames, push } = createRelay();
    const next = frames.next();
    expect(await frames.return?.()).toEqual(OVER);
    expect(await next).toEqual(OVER);
    push('a');
    expect(await frames.next()).toEqual(OVER);
  });

  it('are dropped with those that waited when the client leaves', async () => {
    const { frames, push } = createRelay();
    push('a');
    await frames.return?.();
    expect(await frames.next()).toEqual(OVER);
  });

  it('end without those that wait when these are too many', async () => {
    const { frames, push } = createRelay();
    push('x'.repeat(MAX_WAITING));
    expect((await frames.next()).value).toHaveLength(MAX_WAITING);
    push('x'.repeat(MAX_WAITING));
    push('y');
    expect(await frames.next()).toEqual(OVER);
    push('z');
    expect(await frames.next()).toEqual(OVER);
  });

  it('are iterated once', async () => {
    const { frames, push, end } = createRelay();
    push('a');
    end();
    const read: string[] = [];
    for await (const text of frames) read.push(text);
    expect(read).toEqual(['a']);
  });
});
