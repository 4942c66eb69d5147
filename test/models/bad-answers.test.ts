import { createServer, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { createOpenAICompatibleProvider } from '@questline/providers/compatible';
import { afterEach, describe, expect, it } from 'vitest';
import { type ChatApp, createChatApp } from '../support/chat.ts';
import { getEvents } from '../support/model.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const KEY = 'sk-platform-secret-0123';
const PROMPT = 'the prompt of a user';
const CREDITS = 1000e6;

interface Subject extends ChatApp {
  /** Number of requests that the server received. */
  hits(): number;
}

/** A mounted service whose provider connects to a server that answers each request with these bytes. */
async function createSubject(answer: (path: string) => string | Uint8Array): Promise<Subject> {
  let hits = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    let request = '';
    socket.on('data', (chunk) => {
      request += chunk.toString('latin1');
      const [head = '', body] = request.split('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (body === undefined || body.length < length) return;
      request = '';
      hits += 1;
      socket.end(answer(head.split(' ')[1] ?? ''));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const provider = createOpenAICompatibleProvider({
    id: 'openai',
    apiKey: KEY,
    baseUrl: `http://127.0.0.1:${port}/v1`,
    models: [
      { id: 'scripted', contextWindow: 100_000, maxOutputTokens: 1000, prices: { input: 100, output: 100 } },
    ],
  });
  closers.push(
    async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
    async () => provider.close?.(),
  );
  const app = await createChatApp({
    models: [provider],
    settings: { admin: { DefaultAPIModel: 'scripted', enforceCredits: true } },
  });
  return { ...app, hits: () => hits };
}

const COMPLETION = { model: 'scripted', messages: [{ role: 'user', content: PROMPT }], max_tokens: 100 };

const head = (status: string, type = 'text/event-stream', more = '') =>
  `HTTP/1.1 ${status}\r\ncontent-type: ${type}\r\n${more}connection: close\r\n\r\n`;
const events = (...list: readonly unknown[]) =>
  list.map((one) => `data: ${typeof one === 'string' ? one : JSON.stringify(one)}\n\n`).join('');
const stream = (...list: readonly unknown[]) => head('200 OK') + events(...list);
const text = (content: string) => ({ choices: [{ delta: { content } }] });
const finish = (reason = 'stop') => ({ choices: [{ delta: {}, finish_reason: reason }] });
const usage = (prompt: number, completion: number) => ({
  choices: [],
  usage: { prompt_tokens: prompt, completion_tokens: completion },
});

/** Available and held credit of the caller. */
const getBalance = async (app: ChatApp) => {
  const { posted, held } = await app.ledger.balance(app.account);
  return { charged: (CREDITS - posted) / 1e6, held };
};

/** Runs a chat turn to its end and advances the clock past each retry delay. */
async function chat(app: Subject): Promise<Record<string, unknown>> {
  const asked = await app.chat({ message: PROMPT });
  let seen = 0;
  for (let step = 0; step < 50_000; step += 1) {
    await turn();
    const quest = await app.poll(asked.body.id);
    if (quest.status === 'done') return quest;
    if (app.hits() > seen) {
      seen = app.hits();
      for (let pause = 0; pause < 200; pause += 1) await turn();
      await app.clock.advance(2500);
    }
  }
  throw new Error('the turn did not end');
}

const UNREADABLE = { errorCode: 'provider_error', message: expect.stringContaining('could not be read') };
const FAILED = { errorCode: 'provider_error', message: 'Model response error: the provider failed' };

describe('base URL that is not a model provider', () => {
  it.each([
    ['returns an HTML page', `${head('200 OK', 'text/html')}<html>Sign in</html>`, UNREADABLE, 200],
    ['answers 204', 'HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n', UNREADABLE, 204],
    [
      'redirects to itself',
      head('302 Found', 'text/plain', 'location: /v1/chat/completions\r\ncontent-length: 0\r\n'),
      UNREADABLE,
      302,
    ],
    ['speaks SSH', 'SSH-2.0-OpenSSH_9.2\r\n', FAILED, undefined],
    [
      'requires another protocol',
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
      FAILED,
      undefined,
    ],
    ['answers nothing', '', FAILED, undefined],
  ])('reports one clear error and leaves no hold: %s', async (_name, bytes, expected, status) => {
    const app = await createSubject(() => bytes);
    const answer = await app.json('POST', '/api/ai/v1/completions', { body: COMPLETION });
    expect(answer.status).toBe(500);
    expect(answer.body).toMatchObject({ type: 'error', ...expected });
    expect(answer.body.providerError).toEqual(status === undefined ? undefined : { status });
    expect(app.hits()).toBe(1);
    expect(await getBalance(app)).toEqual({ charged: 0, held: 0 });
    const turnOfChat = await chat(app);
    expect(turnOfChat).toMatchObject({ type: 'error', reply: expect.stringContaining('gave no answer') });
    expect(await getBalance(app)).toEqual({ charged: 0, held: 0 });
    expect(JSON.stringify(app.incidents.map(({ error }) => String(error)))).not.toContain(KEY);
  });
});

describe('stream that fails', () => {
  const call = (index: number, args: string) => ({
    choices: [
      { delta: { tool_calls: [{ index, id: `c${index}`, function: { name: 'look', arguments: args } }] } },
    ],
  });

  it.each([
    ['breaks off in a tool call', stream(call(0, '{"a":'))],
    ['breaks off in the middle of an event', `${stream(text('Hel'))}data: {"choices":[{"del`],
    [
      'ends with a tool call that is not JSON',
      stream(call(0, '{"a":'), finish('tool_calls'), usage(5, 5), '[DONE]'),
    ],
    ['contains an event of 17 MB', stream(text('x'.repeat(17 * 2 ** 20)), finish(), usage(5, 5), '[DONE]')],
    ['contains an event that is not JSON', stream(text('Hel'), '{"choices": nope}')],
  ])('ends with an error event and leaves no hold: %s', async (_name, bytes) => {
    const app = await createSubject(() => bytes);
    const answer = await app.ask('POST', '/api/ai/v1/completions', { body: COMPLETION });
    const said = await answer.text();
    const failed =
      answer.status === 200
        ? (getEvents(said).at(-2) as { type: string })
        : (JSON.parse(said) as { type: string });
    expect(failed.type).toBe('error');
    if (answer.status === 200) expect(getEvents(said).at(-1)).toBe('[DONE]');
    const { charged, held } = await getBalance(app);
    expect(held).toBe(0);
    expect(charged).toBeLessThan(20);
  });

  it('delivers an event of 10 MB completely', async () => {
    const app = await createSubject(() =>
      stream(text('x'.repeat(10 * 2 ** 20)), finish('length'), usage(5, 100), '[DONE]'),
    );
    const answer = await app.ask('POST', '/api/ai/v1/completions', { body: COMPLETION });
    expect((await answer.text()).length).toBeGreaterThan(10 * 2 ** 20);
    expect(await getBalance(app)).toEqual({ charged: 1.05, held: 0 });
  });
});

describe('usage report', () => {
  const answer = async (...list: readonly unknown[]) => {
    const app = await createSubject(() => stream(text('Hello.'), finish(), ...list));
    const response = await app.ask('POST', '/api/ai/v1/completions', { body: COMPLETION });
    expect(response.status).toBe(200);
    const all = getEvents(await response.text());
    expect(all.at(-1)).toBe('[DONE]');
    return { ...(await getBalance(app)), last: all.at(-2) as Record<string, unknown> };
  };

  it('is charged once when it arrives twice', async () => {
    expect(await answer(usage(5, 10), usage(5, 10), '[DONE]')).toMatchObject({ charged: 0.15, held: 0 });
  });

  it.each([
    ['is negative', [usage(-5, -10), '[DONE]']],
    ['is missing', ['[DONE]']],
    ['is not a number', [{ choices: [], usage: { prompt_tokens: 'many', completion_tokens: {} } }, '[DONE]']],
  ])('is replaced by the estimate when it %s', async (_name, list) => {
    const { charged, held } = await answer(...list);
    expect(held).toBe(0);
    expect(charged).toBeGreaterThan(0);
    expect(charged).toBeLessThan(1);
  });
});

describe('model that disappears between listing and call', () => {
  const gone = () => {
    const body = JSON.stringify({
      error: {
        message: `No ${PROMPT} ${KEY}`,
        type: 'invalid_request_error',
        code: 'model_not_found',
        param: 'model',
      },
    });
    return `${head('404 Not Found', 'application/json', `content-length: ${body.length}\r\n`)}${body}`;
  };
  const providerError = { status: 404, code: 'model_not_found', param: 'model' };

  it('is reported with the code and parameter of the vendor, without its text or a hold', async () => {
    const app = await createSubject(gone);
    const answer = await app.json('POST', '/api/ai/v1/completions', { body: COMPLETION });
    expect([answer.status, answer.body]).toMatchObject([
      422,
      { errorCode: 'invalid_request', providerError },
    ]);
    expect(JSON.stringify(answer.body)).not.toContain(PROMPT);
    expect(await chat(app)).toMatchObject({ type: 'error', providerError });
    expect(await getBalance(app)).toEqual({ charged: 0, held: 0 });
  });

  it('is reported to the operator once per request, also for completions', async () => {
    const app = await createSubject(gone);
    await app.json('POST', '/api/ai/v1/completions', { body: COMPLETION });
    expect(app.incidents).toHaveLength(1);
    expect(app.incidents[0]).toMatchObject({
      operation: 'createCompletion',
      error: { kind: 'invalid_request', ...providerError },
    });
  });
});
