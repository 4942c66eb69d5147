import { describe, expect, it } from 'vitest';
import { MINUTE, open, openEngine } from '../../test/engine.ts';

describe('subscriptions', () => {
  it('are awaited by the start, once', async () => {
    const { ended, end } = open();
    let hasStarted = false;
    const subscribe = async () => {
      await ended;
      return async () => undefined;
    };
    const { clock, engine } = openEngine({ subscriptions: [subscribe] });
    void engine.start().then(() => {
      hasStarted = true;
    });
    await clock.advance(1);
    expect(hasStarted).toBe(false);
    end();
    await clock.advance(1);
    expect(hasStarted).toBe(true);
    await engine.drain(0);
  });

  it('that begin after a shutdown are reported when they cannot be ended', async () => {
    const { ended, end } = open();
    const error = new Error('not ended');
    let attempts = 0;
    const subscribe = async () => {
      attempts += 1;
      if (attempts === 1) throw new Error('away');
      await ended;
      return () => Promise.reject(error);
    };
    const { clock, engine, reported } = openEngine({ subscriptions: [subscribe] });
    await engine.start();
    await clock.advance(MINUTE);
    await engine.drain(0);
    end();
    await clock.advance(5 * MINUTE);
    expect(reported.slice(1)).toEqual([{ operation: 'subscribe', requestId: '', error }]);
    expect([attempts, clock.pending]).toEqual([2, 0]);
  });

  it('begin with the engine and end with it', async () => {
    const events: string[] = [];
    const toSubscription = (name: string) => async () => {
      events.push(`begin ${name}`);
      return async () => void events.push(`end ${name}`);
    };
    const { engine } = openEngine({ subscriptions: [toSubscription('a'), toSubscription('b')] });
    await engine.start();
    expect(events).toEqual(['begin a', 'begin b']);
    await engine.drain(0);
    expect(events).toEqual(['begin a', 'begin b', 'end a', 'end b']);
    await engine.drain(0);
    expect(events).toHaveLength(4);
  });

  it('are repeated every minute until they succeed', async () => {
    let left = 2;
    let ends = 0;
    const error = new Error('away');
    const subscribe = async () => {
      left -= 1;
      if (left >= 0) throw error;
      return async () => {
        ends += 1;
      };
    };
    const { clock, engine, reported } = openEngine({ subscriptions: [subscribe] });
    await engine.start();
    expect(reported).toEqual([{ operation: 'subscribe', requestId: '', error }]);
    await clock.advance(MINUTE - 1);
    expect(left).toBe(1);
    await clock.advance(1);
    expect([left, reported.length]).toEqual([0, 2]);
    await clock.advance(5 * MINUTE);
    expect([left, reported.length]).toEqual([-1, 2]);
    await engine.drain(0);
    expect(ends).toBe(1);
  });

  it('are not repeated after a shutdown', async () => {
    let attempts = 0;
    const subscribe = () => {
      attempts += 1;
      return Promise.reject(new Error('away'));
    };
    const { clock, engine, reported } = openEngine({ subscriptions: [subscribe] });
    await engine.start();
    await engine.drain(0);
    expect(clock.pending).toBe(0);
    await clock.advance(5 * MINUTE);
    expect([attempts, reported.length]).toEqual([1, 1]);
  });

  it.each([true, false])('that answer after a shutdown leave nothing (success: %s)', async (succeeds) => {
    const { ended, end } = open();
    let attempts = 0;
    let ends = 0;
    const subscribe = async () => {
      attempts += 1;
      if (attempts === 1) throw new Error('away');
      await ended;
      if (!succeeds) throw new Error('still away');
      return async () => {
        ends += 1;
      };
    };
    const { clock, engine, reported } = openEngine({ subscriptions: [subscribe] });
    await engine.start();
    await clock.advance(MINUTE);
    await engine.drain(0);
    end();
    await clock.advance(5 * MINUTE);
    expect([attempts, ends, reported.length, clock.pending]).toEqual([2, ...(succeeds ? [1, 1] : [0, 2]), 0]);
  });

  it('are reported when they cannot be ended', async () => {
    const error = new Error('away');
    const subscribe = async () => () => Promise.reject(error);
    const { engine, reported, countDrained } = openEngine({ subscriptions: [subscribe] });
    await engine.start();
    await engine.drain(0);
    expect(reported).toEqual([{ operation: 'subscribe', requestId: '', error }]);
    expect(countDrained()).toBe(1);
  });
});
