import { getEventListeners } from 'node:events';
import { ProviderError } from '@questline/core/ports';
import type { Dispatcher } from 'undici';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Exchange, type ResponseOptions } from './exchange.ts';
import { Faults } from './faults.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const TIMEOUT_MS = 5000;
const LINGER_MS = 1000;
const CHUNKED = { 'content-type': 'text/x', 'transfer-encoding': 'chunked' };

function start(options: Partial<ResponseOptions> = {}, { isConnected = true } = {}) {
  const log: string[] = [];
  const controller = {
    abort: ({ message }: Error) => void log.push(`abort: ${message}`),
    pause: () => void log.push('pause'),
    resume: () => void log.push('resume'),
  } as unknown as Dispatcher.DispatchController;
  const leaving = new AbortController();
  const exchange = new Exchange(
    { firstByteTimeoutMs: TIMEOUT_MS, accepts: (type) => type !== 'text/html', ...options },
    new Faults('vendor', '', (body) => ({ message: JSON.stringify(body) })),
    leaving.signal,
    {
      data: (chunk) => void log.push(`data ${chunk}`),
      over: (failure) => void log.push(failure === undefined ? 'over' : `over: ${failure.error}`),
    },
  );
  exchange.answered.then(
    () => log.push('answered'),
    (error: unknown) => log.push(`refused: ${error instanceof ProviderError ? error.message : error}`),
  );
  if (isConnected) exchange.onRequestStart(controller);
  return {
    exchange,
    leaving,
    log,
    listeners: () => getEventListeners(leaving.signal, 'abort').length,
    connect: () => exchange.onRequestStart(controller),
    head: (status = 200, headers: Record<string, string | string[]> = CHUNKED) =>
      exchange.onResponseStart(controller, status, headers),
    data: (text: string) => exchange.onResponseData(controller, Buffer.from(text)),
    end: () => exchange.onResponseEnd(),
    fail: (message: string) => exchange.onResponseError(controller, new Error(message)),
    async settle() {
      await Promise.resolve();
      await Promise.resolve();
      return log;
    },
  };
}

const ABORT = 'abort: the exchange was broken off';

describe('exchange with a provider', () => {
  it('passes on the body of an accepted response, and leaves no timer and no listener', async () => {
    const { head, data, end, settle, exchange, listeners } = start();
    expect([exchange.contentType, listeners(), vi.getTimerCount()]).toEqual(['', 1, 1]);
    head(103);
    head();
    await settle();
    expect(exchange.contentType).toBe('text/x');
    data('a');
    expect(vi.getTimerCount()).toBe(0);
    data('b');
    end();
    end();
    expect(await settle()).toEqual(['answered', 'data a', 'data b', 'over']);
    expect(listeners()).toBe(0);
  });

  it.each<[number, string | string[], Partial<ResponseOptions>, boolean]>([
    [200, 'text/x', {}, true],
    [200, ['text/html'], {}, true],
    [200, 'text/html', {}, false],
    [201, 'text/x', {}, false],
    [201, 'text/x', { anySuccess: true }, true],
    [299, 'text/x', { anySuccess: true }, true],
    [201, 'text/html', { anySuccess: true }, false],
    [300, 'text/x', { anySuccess: true }, false],
    [500, 'text/x', { anySuccess: true }, false],
  ])('accepts the status %i with the type %s and %j: %s', async (status, type, options, isAccepted) => {
    const { head, end, settle } = start(options);
    head(status, { 'content-type': type });
    end();
    expect((await settle()).includes('answered')).toBe(isAccepted);
  });

  it('reads the first response only', async () => {
    const { head, data, end, settle } = start();
    head(200);
    head(500);
    data('a');
    end();
    expect(await settle()).toEqual(['data a', 'over', 'answered']);
  });
});

describe('refused response', () => {
  it.each(['end', 'broken body'])('is an error with its text after its %s', async (ending) => {
    const { head, data, end, fail, settle, listeners } = start();
    head(500, {});
    data('"no');
    data('t now"');
    if (ending === 'end') end();
    else fail('reset');
    expect(await settle()).toEqual([ABORT, 'refused: vendor: answered 500: "not now"']);
    fail('later');
    end();
    expect(await settle()).toHaveLength(2);
    expect([listeners(), vi.getTimerCount()]).toEqual([0, 0]);
  });

  it('is read up to 64 KiB', async () => {
    const { head, data, settle, exchange } = start();
    head(500, {});
    data('x'.repeat(64 * 1024));
    expect(await settle()).toEqual([]);
    data('y');
    data('z');
    expect(await settle()).toEqual([ABORT, expect.stringContaining('answered 500')]);
    await expect(exchange.answered).rejects.not.toThrow('y');
  });

  it('is an error at the deadline', async () => {
    const { head, data, settle } = start();
    head(503, {});
    data('"busy"');
    vi.advanceTimersByTime(TIMEOUT_MS);
    expect(await settle()).toEqual([ABORT, 'refused: vendor: answered 503: "busy"']);
  });
});

describe('end of an exchange', () => {
  it('comes at the deadline, unless the body has begun', async () => {
    const late = start();
    vi.advanceTimersByTime(TIMEOUT_MS - 1);
    expect(await late.settle()).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(await late.settle()).toEqual([ABORT, 'refused: vendor: sent nothing for 5000 ms']);
    const headOnly = start();
    headOnly.head();
    vi.advanceTimersByTime(TIMEOUT_MS);
    expect(await headOnly.settle()).toEqual([
      ABORT,
      expect.stringMatching(/^over: .*sent nothing for 5000 ms$/),
      'answered',
    ]);
    const begun = start();
    begun.head();
    begun.data('a');
    vi.advanceTimersByTime(10 * TIMEOUT_MS);
    expect(await begun.settle()).toEqual(['data a', 'answered']);
  });

  it('has no deadline of 0', () => {
    start({ firstByteTimeoutMs: 0 });
    expect(vi.getTimerCount()).toBe(0);
    start({ firstByteTimeoutMs: 1 });
    expect(vi.getTimerCount()).toBe(1);
  });

  it('does not hold a process back', () => {
    const { setTimeout } = globalThis;
    const timers: NodeJS.Timeout[] = [];
    vi.stubGlobal('setTimeout', (...wait: Parameters<typeof setTimeout>) => {
      const timer = setTimeout(...wait);
      timers.push(timer);
      return timer;
    });
    const { head, exchange } = start();
    head();
    exchange.linger();
    vi.unstubAllGlobals();
    expect(timers.map((timer) => timer.hasRef())).toEqual([false, false]);
  });

  it.each([false, true])('comes with the signal (after the head: %s), once', async (hasHead) => {
    const { head, leaving, settle, exchange, fail, end, data } = start();
    if (hasHead) head();
    leaving.abort('left');
    exchange.stop('again');
    fail('later');
    end();
    data('later');
    exchange.linger();
    const expected = hasHead ? [ABORT, 'over: left', 'answered'] : [ABORT, 'refused: left'];
    expect([await settle(), vi.getTimerCount()]).toEqual([expected, 0]);
  });

  it('waits for the connection', async () => {
    const { leaving, settle, connect } = start({}, { isConnected: false });
    leaving.abort('left');
    expect(await settle()).toEqual(['refused: left']);
    connect();
    expect(await settle()).toEqual(['refused: left', ABORT]);
    const open = start({}, { isConnected: false });
    open.connect();
    expect(await open.settle()).toEqual([]);
  });

  it.each([false, true])('comes with a failure of the connection (after the head: %s)', async (hasHead) => {
    const { head, fail, settle, listeners } = start();
    if (hasHead) head();
    fail('reset');
    const log = (await settle()).filter((entry) => entry !== 'answered');
    expect(log).toEqual([expect.stringMatching(hasHead ? /^over: .*reset/ : /^refused: vendor.*reset/)]);
    expect([listeners(), vi.getTimerCount()]).toEqual([0, 0]);
  });

  it('comes a second after the last event at the latest', async () => {
    const { head, exchange, settle } = start();
    head();
    exchange.linger();
    vi.advanceTimersByTime(LINGER_MS / 2);
    exchange.linger();
    vi.advanceTimersByTime(LINGER_MS - 1);
    expect(await settle()).toEqual(['resume', 'resume', 'answered']);
    vi.advanceTimersByTime(1);
    expect((await settle()).slice(3)).toEqual([ABORT, 'over: undefined']);
  });
});

describe('pause of a response', () => {
  it.each<[Record<string, string>, boolean]>([
    [CHUNKED, true],
    [{ 'transfer-encoding': 'Chunked', connection: 'keep-alive' }, true],
    [{ 'transfer-encoding': 'chunked', connection: 'Close' }, false],
    [{ 'content-length': '5' }, false],
    [{ 'transfer-encoding': 'gzip' }, false],
  ])('is possible with %j: %s', (headers, isPossible) => {
    const { head, exchange, log } = start();
    expect(exchange.pause()).toBe(false);
    head(200, headers);
    expect(exchange.pause()).toBe(isPossible);
    exchange.resume();
    expect(log).toEqual([...(isPossible ? ['pause'] : []), 'resume']);
  });
});
