import { setImmediate as turn } from 'node:timers/promises';
import { createClient, entries, type Operation, type PagedOperation, pages, poll } from '@questline/client';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { sleep } from '../src/wait.ts';
import { createScriptedClient, json } from './support.ts';

interface Job {
  readonly step: number;
}

const JOB: Operation<{ readonly params: { readonly id: string } }, Job> = {
  id: 'job',
  method: 'GET',
  path: '/jobs/{id}',
};
const input = { params: { id: 'j' } };
const isFinal = ({ step }: Job): boolean => step === 9;

async function take<T>(all: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const one of all) found.push(one);
  return found;
}

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('poll', () => {
  it('yields each change, with delays that grow to five seconds and begin anew', async () => {
    const steps = [...Array(9).fill(1), 2, 9];
    const { client, waited } = createScriptedClient(steps.map((step) => json({ step })));
    const seen = await take(poll(client, JOB, input, { isFinal }));
    expect(seen.map(({ step }) => step)).toEqual([1, 2, 9]);
    const grown = [500, 750, 1125, 1687.5, 2531.25, 3796.875, 5000, 5000, 5000];
    expect(waited).toEqual([...grown, 500]);
  });

  it('waits ten consecutive failures out', async () => {
    const failures = Array.from({ length: 10 }, () => json({}, 503));
    const more = Array.from({ length: 10 }, () => json({}, 502));
    const answers = [...failures, json({ step: 1 }), ...more, json({ step: 9 })];
    const { client, sent } = createScriptedClient(answers, { retries: 0 });
    expect(await take(poll(client, JOB, input, { isFinal }))).toEqual([{ step: 1 }, { step: 9 }]);
    expect(sent).toHaveLength(22);
  });

  it('rejects with the eleventh failure, and at once with one that lasts', async () => {
    const away = createScriptedClient(
      Array.from({ length: 20 }, () => json({}, 503)),
      { retries: 0 },
    );
    await expect(take(poll(away.client, JOB, input, { isFinal }))).rejects.toMatchObject({ status: 503 });
    expect(away.sent).toHaveLength(11);
    const gone = createScriptedClient([json({ error: 'gone' }, 404)]);
    await expect(take(poll(gone.client, JOB, input, { isFinal }))).rejects.toMatchObject({ status: 404 });
    expect(gone.waited).toEqual([]);
  });

  it('asks again after the wait', async () => {
    let goOn: (() => void) | undefined;
    const { client, sent } = createScriptedClient([json({ step: 1 }), json({ step: 9 })], {
      wait: () =>
        new Promise<void>((resolve) => {
          goOn = resolve;
        }),
    });
    const states = poll(client, JOB, input, { isFinal });
    await states.next();
    const next = states.next();
    await vi.waitFor(() => expect(goOn).not.toBeUndefined());
    await turn();
    expect(sent).toHaveLength(1);
    goOn?.();
    expect((await next).value).toEqual({ step: 9 });
  });

  it('ends with its signal, also during a wait', async () => {
    const controller = new AbortController();
    const reason = new Error('left');
    const signals: unknown[] = [];
    const { client } = createScriptedClient([json({ step: 1 }), json({ step: 9 })], {
      wait: async (_ms, signal) => void signals.push(signal),
    });
    const states = poll(client, JOB, input, { isFinal, signal: controller.signal });
    await states.next();
    const next = states.next();
    controller.abort(reason);
    await expect(next).rejects.toBe(reason);
    expect(signals).toEqual([controller.signal]);
  });
});

describe('the next page', () => {
  const by = (parameter: 'cursor' | 'page' | 'pagination[page]' | 'offset') => ({
    id: 'list',
    method: 'GET' as const,
    path: '/list',
    page: { by: parameter, entries: 'data' as const },
  });
  type Listed = { readonly data: readonly number[] };
  const ask = async (
    parameter: Parameters<typeof by>[0],
    answers: readonly object[],
    query?: Readonly<Record<string, unknown>>,
  ) => {
    const { client, sent } = createScriptedClient(answers.map((answer) => json(answer)));
    const operation: PagedOperation<{ readonly query?: object }, Listed, 'data'> = by(parameter);
    const found = await take(entries(client, operation, query && { query }));
    return [found, sent.map(({ url }) => decodeURIComponent(new URL(url).search))];
  };

  it('has the cursor of the answer, until there is none', async () => {
    const answers = [{ data: [1], next_cursor: 'a' }, { data: [], next_cursor: 'b' }, { data: [2] }];
    expect(await ask('cursor', answers, { limit: 1 })).toEqual([
      [1, 2],
      ['?limit=1', '?limit=1&cursor=a', '?limit=1&cursor=b'],
    ]);
    expect(await ask('cursor', [{ data: [1], next_cursor: null }])).toEqual([[1], ['']]);
  });

  it('has the next number, from the first or that of the input on', async () => {
    const answers = [
      { data: [1], hasMore: true },
      { data: [2], hasMore: false },
    ];
    expect(await ask('page', answers)).toEqual([
      [1, 2],
      ['', '?page=2'],
    ]);
    expect(await ask('pagination[page]', answers, { 'pagination[page]': '4' })).toEqual([
      [1, 2],
      ['?pagination[page]=4', '?pagination[page]=5'],
    ]);
  });

  it('has the offset after the entries of the answer', async () => {
    const answers = [
      { data: [1, 2], hasMore: true },
      { data: [3], hasMore: true },
      { data: [], hasMore: true },
    ];
    expect(await ask('offset', answers)).toEqual([
      [1, 2, 3],
      ['', '?offset=2', '?offset=3'],
    ]);
    expect(await ask('offset', answers.slice(1), { offset: 5 })).toEqual([[3], ['?offset=5', '?offset=6']]);
  });

  it.each([
    [{ hasMore: true }, 2],
    [{ pagination: { hasNext: true } }, 2],
    [{ pagination: { hasMore: true } }, 2],
    [{ hasMore: false, pagination: { hasNext: true } }, 1],
    [{ pagination: { hasNext: false, hasMore: true } }, 1],
    [{ pagination: {} }, 1],
    [{}, 1],
  ])('is asked for as the answer says: %j', async (more, count) => {
    const [, urls] = await ask('page', [{ data: [1], ...more }, { data: [2] }]);
    expect(urls).toHaveLength(count);
  });

  it('has the parameters, the body and the options of the first', async () => {
    const list: PagedOperation<{ readonly params: { readonly id: string } }, Listed, 'data'> = {
      ...by('cursor'),
      path: '/lists/{id}',
    };
    const { client, sent } = createScriptedClient([
      json({ data: [1], next_cursor: 'a' }),
      json({ data: [2] }),
    ]);
    await take(pages(client, list, { params: { id: 'x' } }, { headers: { 'x-tenant': 'a' } }));
    expect(sent.map(({ url }) => new URL(url).pathname)).toEqual(['/lists/x', '/lists/x']);
    expect(sent.map(({ headers }) => headers.get('x-tenant'))).toEqual(['a', 'a']);
  });
});

describe('a client', () => {
  const fetch = async (url: string): Promise<Response> => json({ url });

  it('needs an address outside of pages', async () => {
    expect(() => createClient()).toThrow(new TypeError('baseUrl: outside of pages it is required'));
    vi.stubGlobal('location', { origin: 'http://page.test' });
    expect(await createClient({ fetch }).call(JOB, input)).toEqual({ url: '/jobs/j' });
  });

  it('accepts an address with slashes at its end', async () => {
    const { call } = createClient({ baseUrl: 'http://a.test/ai//', fetch });
    expect(await call(JOB, input)).toEqual({ url: 'http://a.test/ai/jobs/j' });
  });

  it('has a method for each operation, and returns status and headers if asked', async () => {
    const client = createClient({ baseUrl: 'http://a.test', fetch, operations: { job: JOB } });
    expect(await client.job(input)).toEqual({ url: 'http://a.test/jobs/j' });
    expect(await client.send(JOB, input)).toMatchObject({
      status: 200,
      data: { url: 'http://a.test/jobs/j' },
    });
    const headers: (string | null)[] = [];
    const counted = createClient({
      baseUrl: 'http://a.test',
      operations: { job: JOB },
      async fetch(_, init) {
        headers.push(new Headers(init.headers).get('x-tenant'));
        return json({});
      },
    });
    await counted.job(input, { headers: { 'x-tenant': 'a' } });
    await counted.send(JOB, input, { headers: { 'x-tenant': 'b' } });
    expect(headers).toEqual(['a', 'b']);
  });

  it('calls an operation without an input', async () => {
    const plain: Operation<Record<never, never>, unknown> = { id: 'plain', method: 'GET', path: '/plain' };
    const client = createClient({ baseUrl: 'http://a.test', fetch, operations: { plain } });
    expect(await client.plain()).toEqual({ url: 'http://a.test/plain' });
    expect(await client.call(plain)).toEqual({ url: 'http://a.test/plain' });
  });

  it('waits with a timer, or as it is configured', async () => {
    expect(createClient({ baseUrl: 'http://a.test' }).wait).toBe(sleep);
    const wait = async (): Promise<void> => undefined;
    expect(createClient({ baseUrl: 'http://a.test', wait }).wait).toBe(wait);
  });
});

describe('a wait', () => {
  it('ends after its time, also without a signal', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const ended: string[] = [];
    const plain = sleep(1000, undefined).then(() => ended.push('plain'));
    const { signal } = new AbortController();
    const stoppable = sleep(1000, signal).then(() => ended.push('stoppable'));
    await vi.advanceTimersByTimeAsync(999);
    expect(ended).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    await Promise.all([plain, stoppable]);
    expect(ended).toEqual(['plain', 'stoppable']);
  });
});
