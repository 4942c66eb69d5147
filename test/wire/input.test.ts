import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { ModelMessage } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createScriptedProvider, type ScriptedProvider } from '../support/model.ts';
import { gzipBomb } from '../support/samples.ts';
import { type Answer, createWire, type Wire } from '../support/wire.ts';

const PATH = '/api/ai/v1/completions';

async function createListener(): Promise<{ wire: Wire; provider: ScriptedProvider }> {
  const provider = createScriptedProvider((call) => {
    call.say({ type: 'text', text: 'Hi' });
    call.end();
  });
  return {
    wire: await createWire({
      models: [provider],
      credits: 1e6,
      settings: { models: { scripted: { contextWindow: 10_000_000 } } },
    }),
    provider,
  };
}

/** Sends a completion as text, and returns the messages that reached the model. */
async function completeRaw(
  body: string,
): Promise<{ answer: Answer; messages: readonly ModelMessage[] | undefined }> {
  const { wire, provider } = await createListener();
  const headers = { 'x-api-key': wire.app.key };
  const answer = await wire.send({ method: 'POST', path: PATH, headers, body });
  return { answer, messages: provider.calls[0]?.request.messages };
}

const completion = (content: string, more = ''): string =>
  `{"model":"scripted","messages":[{"role":"user","content":${content}}]${more}}`;

describe('compressed bodies', () => {
  const send = async (body: Uint8Array, encoding: string): Promise<Answer & { heard: unknown }> => {
    const { wire, provider } = await createListener();
    const type = { 'content-type': 'application/json', 'content-encoding': encoding };
    const headers = { 'x-api-key': wire.app.key, ...type };
    const answer = await wire.send({ method: 'POST', path: PATH, headers, body });
    return { ...answer, heard: provider.calls[0]?.request.messages[0]?.content };
  };
  const plain = Buffer.from(completion('"Hi"'));

  it.each([
    ['gzip', gzipSync(plain)],
    ['GZIP', gzipSync(plain)],
    ['deflate', deflateSync(plain)],
    ['br', brotliCompressSync(plain)],
    ['identity', plain],
  ])('are decoded: %s', async (encoding, body) => {
    expect(await send(body, encoding)).toMatchObject({ status: 200, heard: [{ type: 'text', text: 'Hi' }] });
  });

  it.each([
    ['gzip', plain, 400, 'Content-Encoding: the body is not valid gzip'],
    ['gzip', gzipSync(plain).subarray(0, 30), 400, 'Content-Encoding: the body is not valid gzip'],
    ['zstd', plain, 400, 'Content-Encoding must be gzip, deflate, br or absent'],
    ['gzip, br', plain, 400, 'Content-Encoding must be gzip, deflate, br or absent'],
    ['gzip', gzipBomb(26), 413, 'the body is larger than 26214400 bytes'],
  ])(
    'are rejected when they are not valid %s, and beyond the limit',
    async (encoding, body, status, message) => {
      const answer = await send(body, encoding);
      expect([answer.status, JSON.parse(answer.text).message]).toEqual([status, message]);
      expect(answer.heard).toBeUndefined();
    },
  );
});

describe('bodies with hostile content', () => {
  it('lose keys that reach prototypes, at any depth', async () => {
    const polluting = '"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}';
    const part = `{"type":"tool_use","id":"a","name":"b","input":{"kept":1,${polluting}},${polluting}}`;
    const { answer, messages } = await completeRaw(
      completion(`[${part}]`, `,${polluting},"options":{${polluting}}`),
    );
    expect(answer.status).toBe(200);
    expect(messages).toEqual([
      { role: 'user', content: [{ type: 'tool_use', id: 'a', name: 'b', input: { kept: 1 } }] },
    ]);
    expect(({} as { polluted?: true }).polluted).toBeUndefined();
  });

  it('have lone surrogates replaced by U+FFFD, also in keys, and keep pairs', async () => {
    const part =
      '{"type":"tool_use","id":"a","name":"b","input":{"k\\ud800":"\\udc00x","\\ud83d\\ude00":"\\ud83d\\ude00"}}';
    const { messages } = await completeRaw(completion(`[${part}]`));
    expect(messages?.[0]?.content).toEqual([
      {
        type: 'tool_use',
        id: 'a',
        name: 'b',
        input: { 'k\uFFFD': '\uFFFDx', '\u{1F600}': '\u{1F600}' },
      },
    ]);
    const plain = await completeRaw(completion('"a\\ud800b"'));
    expect(plain.messages?.[0]?.content).toEqual([{ type: 'text', text: 'a\uFFFDb' }]);
  });

  it('are accepted up to 100 levels of JSON', async () => {
    // The input of a tool call is at the fifth level.
    const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
    const deep = (depth: number) =>
      completeRaw(completion(`[{"type":"tool_use","id":"a","name":"b","input":${nested(depth)}}]`));
    expect((await deep(95)).answer.status).toBe(200);
    expect((await deep(96)).answer.status).toBe(400);
  });

  it('are accepted with any spelling of the charset and without a length', async () => {
    const { wire } = await createListener();
    const body = completion('"Hi"');
    for (const type of [
      'application/json',
      'application/json;charset=utf-8',
      'Application/JSON; Charset="UTF-8"',
      'application/json; charset=utf8; boundary=x',
    ]) {
      const headers = { 'x-api-key': wire.app.key, 'Content-Type': type };
      expect((await wire.send({ method: 'POST', path: PATH, headers, body })).status).toBe(200);
    }
  });

  it('are rejected without quoting them in the error', async () => {
    const marked = 'MARKED-PROMPT-7f3a';
    const bodies = [
      `{"model":"${marked}`,
      `{"model":{"${marked}":"${marked}"},"messages":"${marked}"}`,
      completion(`[{"type":"${marked}"}]`),
      completion(`[{"type":"image_url","image_url":{"url":"http://${marked}"}}]`),
      completion(`[{"type":"tool_result","tool_use_id":"${marked}","content":"${marked}"}]`),
      `{"messages":[{"role":"${marked}","content":"${marked}"}]}`,
    ];
    for (const body of bodies) {
      const { answer } = await completeRaw(body);
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.status).toBeLessThan(500);
      expect(JSON.stringify(answer)).not.toContain(marked);
    }
  });
});

describe('bodies of very many values', () => {
  const MIB = 2 ** 20;
  const list = (one: string, count: number): string => Array.from({ length: count }, () => one).join(',');
  const refusal = {
    type: 'error',
    message: 'the body holds more than 100000 values',
    request_id: expect.any(String),
  };

  // Parsing these would take seconds or exhaust the memory of the process.
  const hostile: [title: string, body: () => string][] = [
    ['numbers in place of messages', () => `{"model":"scripted","messages":[${list('1', 12 * MIB)}]}`],
    ['messages', () => `{"model":"scripted","messages":[${list('{"role":"user","content":""}', 800_000)}]}`],
    ['empty parts', () => completion(`[${list('{}', 8 * MIB)}]`)],
    ['fields', () => `{${Array.from({ length: 1_500_000 }, (_, index) => `"k${index}":1`).join(',')}}`],
    ['levels', () => completion(`${'['.repeat(10 * MIB)}${']'.repeat(10 * MIB)}`)],
  ];

  it.each(hostile)('are rejected before any object is created: %s', async (_title, body) => {
    const { answer } = await completeRaw(body());
    expect([answer.status, answer.body]).toEqual([400, refusal]);
  });

  it('are rejected from the first excess value', async () => {
    // Seven values: the body, its model, the list of messages, the message, its role and content, and the
    // list itself.
    const withValues = (count: number) =>
      completeRaw(completion('"Hi"', `,"unknown":[${list('0', count - 7)}]`));
    expect((await withValues(100_000)).answer.status).toBe(200);
    const { answer } = await withValues(100_001);
    expect([answer.status, answer.body]).toEqual([400, refusal]);
  });

  it('may contain one object of up to 10,000 properties', async () => {
    const fields = (count: number) => list('"k":1', count).replaceAll(/k/g, () => `k${counter++}`);
    let counter = 0;
    const part = (count: number) => `[{"type":"tool_use","id":"a","name":"b","input":{${fields(count)}}}]`;
    expect((await completeRaw(completion(part(10_000)))).answer.status).toBe(200);
    const { answer } = await completeRaw(completion(part(10_001)));
    const message = 'the body holds an object of more than 10000 properties';
    expect([answer.status, answer.body]).toEqual([400, { ...refusal, message }]);
  });

  it('are distinguished from long text, whatever its content', async () => {
    for (const piece of [',', '[{', '\\"', '\\\\', '\\\\\\",', 'a, b. ']) {
      const text = piece.repeat(Math.ceil(MIB / piece.length));
      const { answer, messages } = await completeRaw(completion(`"${text}"`));
      expect(answer.status, piece).toBe(200);
      expect(messages?.[0]?.content, piece).toEqual([{ type: 'text', text: JSON.parse(`"${text}"`) }]);
    }
  });
});

describe('correlation id', () => {
  const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  const cases: [title: string, headers: Record<string, string>, id: string | RegExp][] = [
    ['is kept', { 'X-Request-ID': 'Abc-1.2_3' }, 'Abc-1.2_3'],
    ['can be sent as Request-ID', { 'Request-ID': 'abc' }, 'abc'],
    ['is taken from X-Request-ID first', { 'Request-ID': 'second', 'X-Request-ID': 'first' }, 'first'],
    [
      'is taken from Request-ID when X-Request-ID is unusable',
      { 'Request-ID': 'second', 'X-Request-ID': '<>' },
      'second',
    ],
    [
      'is stripped of unsafe characters',
      { 'X-Request-ID': 'a b;<script>\u00e9"%0d%0aSet-Cookie:x' },
      'abscript0d0aSet-Cookiex',
    ],
    ['is truncated to 128 characters', { 'X-Request-ID': 'x'.repeat(500) }, 'x'.repeat(128)],
    ['is generated when none is sent', {}, UUID],
    ['is generated when both are unusable', { 'X-Request-ID': '', 'Request-ID': '\u00e9\u00e9' }, UUID],
  ];

  it.each(cases)('%s', async (_title, headers, expected) => {
    const wire = await createWire();
    const paths = ['/api/v1/me', PATH, '/api/ping', '/api/v1/openapi.json'];
    for (const path of paths) {
      const answer = await wire.send({ method: path === PATH ? 'POST' : 'GET', path, headers });
      const id = answer.headers['x-request-id'] ?? '';
      if (typeof expected === 'string') expect(id).toBe(expected);
      else expect(id).toMatch(expected);
      const body = answer.body as { request_id?: string };
      if (answer.status === 401) expect(body.request_id).toBe(id);
    }
  });

  it('is in the events of a stream', async () => {
    const { wire } = await createListener();
    const headers = { 'x-api-key': wire.app.key, 'X-Request-ID': 'mine' };
    const answer = await wire.send({ method: 'POST', path: PATH, headers, body: completion('"Hi"') });
    expect(answer.text).toContain('data: {"type":"meta","requestId":"mine"}\n\n');
  });
});

describe('paths of the API', () => {
  it('match exactly, and other paths belong to the host', async () => {
    const wire = await createWire();
    const headers = { 'x-api-key': wire.app.key };
    for (const path of [
      '/',
      '/api',
      '/api/v1',
      '/api/v1/',
      '/api/v1/me/',
      '/api/v1//me',
      '/API/v1/me',
      '/api/v1/Me',
      '/api/v1/me;x=1',
      '/api/v1/%6de%2f',
      '/api/v1/me%00',
      '/api/v1/%zz',
      '/api/v1/nothing',
    ]) {
      expect((await wire.send({ method: 'GET', path, headers })).status, path).toBe(0);
    }
    expect((await wire.send({ method: 'GET', path: '/api/v1/%6De', headers })).status).toBe(200);
  });

  it('answer 404 under /api/ before any credential check when the host does not handle them', async () => {
    const wire = await createWire({ settings: { unknownPaths: 'not-found' } });
    const answer = await wire.send({
      method: 'GET',
      path: '/api/v1/nothing',
      headers: { Authorization: 'nonsense', 'X-Request-ID': 'mine' },
    });
    expect(answer).toEqual({
      status: 404,
      headers: { 'content-type': 'application/json; charset=utf-8', 'x-request-id': 'mine' },
      text: expect.any(String),
      body: { error: 'Not found', request_id: 'mine', name: 'NotFoundError' },
    });
    expect((await wire.send({ method: 'GET', path: '/elsewhere' })).status).toBe(0);
  });
});
