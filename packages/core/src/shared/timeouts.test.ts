import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createBag } from './bag.ts';
import { toHtml } from './html.ts';
import { startTimeout, withTimeout } from './timeouts.ts';

const late = () => new Error('too late');

/** A signal that counts its listeners. */
function createOuter() {
  const control = new AbortController();
  const listeners = new Set<unknown>();
  const { signal } = control;
  const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners.add(args[1]);
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners.delete(args[1]);
    remove(...args);
  };
  return { control, signal, listeners };
}

describe('a timeout', () => {
  it('aborts after its time, with its own reason', async () => {
    const clock = createFakeClock();
    const { signal } = startTimeout(clock, 100, late);
    await clock.advance(99);
    expect(signal.aborted).toBe(false);
    await clock.advance(1);
    expect(signal.reason).toEqual(late());
  });

  it('aborts with an outer signal, before or afterwards', () => {
    const clock = createFakeClock();
    const { control, signal: outer } = createOuter();
    const { signal } = startTimeout(clock, 100, late, outer);
    expect(signal.aborted).toBe(false);
    control.abort('left');
    expect(signal.reason).toBe('left');
    expect(startTimeout(clock, 100, late, AbortSignal.abort('gone')).signal.reason).toBe('gone');
  });

  it('leaves no timer and no listener when it ends', () => {
    const clock = createFakeClock();
    const { control, signal: outer, listeners } = createOuter();
    const timeout = startTimeout(clock, 100, late, outer);
    expect([clock.pending, listeners.size]).toEqual([1, 1]);
    timeout.end();
    expect([clock.pending, listeners.size]).toEqual([0, 0]);
    control.abort();
    expect(timeout.signal.aborted).toBe(false);
  });

  it('ends work that does not end by itself, and leaves nothing', async () => {
    const clock = createFakeClock();
    const { control, signal: outer, listeners } = createOuter();
    const hanging = () => new Promise<never>(() => undefined);
    const tooLate = withTimeout(clock, 100, late, outer, hanging);
    await Promise.all([clock.advance(100), expect(tooLate).rejects.toThrow('too late')]);
    expect(await withTimeout(clock, 100, late, outer, async () => 'done')).toBe('done');
    await expect(withTimeout(clock, 100, late, outer, () => Promise.reject(late()))).rejects.toThrow(
      'too late',
    );
    expect([clock.pending, listeners.size]).toEqual([0, 0]);
    const left = withTimeout(clock, 100, late, outer, hanging);
    control.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    let begun = 0;
    const begin = async (): Promise<void> => {
      begun += 1;
    };
    await expect(withTimeout(clock, 100, late, outer, begin)).rejects.toThrow('left');
    expect([begun, clock.pending]).toEqual([0, 0]);
  });

  it('waits for its work before it stops the timer', async () => {
    const clock = createFakeClock();
    let finish = (): void => undefined;
    const work = withTimeout(
      clock,
      100,
      late,
      undefined,
      () =>
        new Promise<void>((resolve) => {
          finish = resolve;
        }),
    );
    await clock.advance(50);
    expect(clock.pending).toBe(1);
    finish();
    await work;
    expect(clock.pending).toBe(0);
  });
});

it('keeps things until each is removed, once, and takes their places again', () => {
  const bag = createBag<{ readonly name: string }>();
  const [a, b, c] = [{ name: 'a' }, { name: 'b' }, { name: 'c' }];
  const removeA = bag.add(a);
  const removeB = bag.add(b);
  expect([bag.size(), bag.values()]).toEqual([2, [a, b]]);
  removeA();
  removeA();
  expect([bag.size(), bag.values()]).toEqual([1, [b]]);
  bag.add(c);
  removeA();
  expect([bag.size(), bag.values()]).toEqual([2, [c, b]]);
  removeB();
  expect([bag.size(), bag.values()]).toEqual([1, [c]]);
});

it('escapes text for HTML', () => {
  expect(toHtml(`<a href="x">'&'</a>`)).toBe('&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;');
});
