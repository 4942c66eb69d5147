import { poll } from '@questline/client';
import * as operations from '@questline/client/operations';
import { describe, expect, it, vi } from 'vitest';
import { createScriptedClient, json } from './support.ts';

const { createSession, getMe, getSession, listSessions, putObject, transcribeAtOnce } = operations;
const OFFLINE = new TypeError('fetch failed');
const ME = { id: 'x' };
const stream = (): ReadableStream => new Blob(['a']).stream();
const putStream = { link: '/x', body: stream as unknown as Blob };

describe('a request', () => {
  it('has the headers of its call and is sent by its transport', async () => {
    const { client, sent } = createScriptedClient([json(ME)]);
    const urls: string[] = [];
    await client.call(getMe, undefined, {
      headers: { 'x-a': 'b' },
      transport: (fetch) => async (url, init) => {
        urls.push(url);
        return fetch?.(url, init) ?? new Response();
      },
    });
    expect(urls).toEqual(['http://questline.test/api/v1/me']);
    expect(sent[0]?.headers.get('x-a')).toBe('b');
  });

  it('leaves out the parts of a query that have no value', async () => {
    const { client, sent } = createScriptedClient([json({ data: [] })]);
    const query = { limit: 5, cursor: undefined, search: null, tag: ['a', undefined, 'b'] };
    await client.call(listSessions, { query: query as never });
    expect(new URL(sent[0]?.url ?? '').search).toBe('?limit=5&tag=a&tag=b');
  });

  it.each([undefined, '', '.', '..'])('is not sent with the id %j', async (id) => {
    const { client, sent } = createScriptedClient([json(ME)]);
    const call = client.call(getSession, { params: { id: id as string } });
    await expect(call).rejects.toThrow(`params.id: expected an id, got '${id ?? ''}'`);
    expect(sent).toEqual([]);
  });

  it('has no body without an input, and that of its input as JSON', async () => {
    const { client, sent } = createScriptedClient([json(ME), json(ME), json(ME)]);
    await client.call(createSession, {} as never);
    await client.call(createSession, { body: { name: 'a' } } as never);
    await client.call(getMe, { body: { name: 'a' } } as never);
    expect(sent.map(({ init }) => init.body)).toEqual([undefined, '{"name":"a"}', undefined]);
    expect(sent.map(({ headers }) => headers.get('content-type'))).toEqual([null, 'application/json', null]);
  });

  it('has the fields of a form that have a value', async () => {
    const { client, sent } = createScriptedClient([json({ text: '' })]);
    const file = new File(['abc'], 'a.wav', { type: 'audio/wav' });
    await client.call(transcribeAtOnce, { body: { file, language: undefined, temperature: 0 } as never });
    const form = sent[0]?.init.body as FormData;
    expect([...form.keys()]).toEqual(['file', 'temperature']);
    expect([(form.get('file') as File).name, form.get('temperature')]).toEqual(['a.wav', '0']);
    expect(sent[0]?.headers.get('content-type')).toBeNull();
  });
});

describe('a body that is a stream', () => {
  const input = (): typeof putStream => ({ ...putStream, body: stream() as unknown as Blob });

  it('is sent in one direction at a time, other bodies are not', async () => {
    const { client, sent } = createScriptedClient([json(ME), json(ME)]);
    const whole = new Blob(['a']);
    await client.call(putObject, input());
    await client.call(putObject, { link: '/x', body: whole });
    expect(sent.map(({ init }) => (init as { duplex?: string }).duplex)).toEqual(['half', undefined]);
    expect(sent[1]?.init.body).toBe(whole);
  });

  it.each([
    ['429', () => json({}, 429, { 'retry-after': '1' })],
    ['401', () => json({}, 401)],
  ])('is not sent again after %s', async (_, answer) => {
    const asked: unknown[] = [];
    const { client, sent, waited } = createScriptedClient([answer()], {
      credential({ rejected }) {
        asked.push(rejected);
        return `token-${asked.length}`;
      },
    });
    await expect(client.call(putObject, input())).rejects.toMatchObject({ name: 'QuestlineError' });
    expect([sent.length, waited]).toEqual([1, []]);
    expect(asked.filter((rejected) => rejected !== undefined)).toEqual([]);
  });
});

describe('an answer', () => {
  it('has its status and the id of its request', async () => {
    const { client } = createScriptedClient([
      json(ME, 201, { 'x-request-id': 'r-1' }),
      new Response(null, { status: 204, headers: { 'content-type': 'application/json' } }),
    ]);
    expect(await client.send(getMe)).toMatchObject({ status: 201, requestId: 'r-1', data: ME });
    expect(await client.send(getMe)).toMatchObject({ status: 204, requestId: undefined, data: undefined });
  });

  it('that is no JSON rejects with its text', async () => {
    const headers = { 'content-type': 'application/json', 'x-request-id': 'r-1' };
    const { client, sent } = createScriptedClient([new Response('<p>', { status: 201, headers })]);
    await expect(client.call(getMe)).rejects.toMatchObject({
      status: 201,
      code: 'invalid_answer',
      requestId: 'r-1',
      body: '<p>',
      cause: expect.any(SyntaxError),
    });
    expect(sent).toHaveLength(1);
  });
});

describe('a state that is asked for again and again', () => {
  const isFinal = () => true;

  it.each([
    ['a network failure', () => OFFLINE],
    ['a status of the server', () => json({}, 500)],
    ['too many requests', () => json({}, 429)],
  ])('is asked for again after %s', async (_, answer) => {
    const { client } = createScriptedClient([answer(), json(ME)], { retries: 0 });
    const states: unknown[] = [];
    for await (const state of poll(client, getMe, {}, { isFinal })) states.push(state);
    expect(states).toEqual([ME]);
  });

  it.each([400, 404, 499])('is not asked for again after status %s', async (status) => {
    const { client, sent } = createScriptedClient([json({}, status), json(ME)], { retries: 0 });
    await expect(poll(client, getMe, {}, { isFinal }).next()).rejects.toMatchObject({ status });
    expect(sent).toHaveLength(1);
  });

  it('ends with an error of another kind', async () => {
    const credential = vi.fn(() => Promise.reject(new RangeError('no credential')));
    const { client } = createScriptedClient([json(ME)], { credential });
    await expect(poll(client, getMe, {}, { isFinal }).next()).rejects.toThrow(RangeError);
    expect(credential).toHaveBeenCalledOnce();
  });
});
