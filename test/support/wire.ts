import { setTimeout } from 'node:timers/promises';
import { toFetchHandler } from '@questline/core';
import type { Description } from '@questline/core/internal';
import { createDescriptionCheck, type DescriptionCheck } from './description.ts';
import { createTestApp, type TestApp, type TestAppOptions } from './test-app.ts';

/** A request as a client sends it. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes are sent unchanged, text with the JSON content type, everything else as JSON. */
  readonly body?: unknown;
}

/** A complete answer. */
export interface Answer {
  readonly status: number;
  /** Names in lower case, without transport headers. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** Parsed if it is JSON. */
  readonly body: unknown;
}

/** Transport headers depend on the host. */
const OF_TRANSPORT = ['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding'];

export async function toAnswer(response: Response): Promise<Answer> {
  const text = await response.text();
  const headers = Object.fromEntries(response.headers);
  for (const name of OF_TRANSPORT) delete headers[name];
  const isJson = headers['content-type']?.startsWith('application/json') === true && text !== '';
  return { status: response.status, headers, text, body: isJson ? JSON.parse(text) : text };
}

/** The arguments of `fetch` and `Request`. */
export function toInit({ method, headers = {}, body }: Asked): RequestInit {
  if (body === undefined) return { method, headers };
  if (body instanceof Uint8Array) return { method, headers, body: body as Uint8Array<ArrayBuffer> };
  return {
    method,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  };
}

/** An app that is called through HTTP; every answer is validated against the API description. */
export interface Wire {
  readonly app: TestApp;
  readonly description: DescriptionCheck;
  send(asked: Asked): Promise<Answer>;
  /** Advances the clock while the answer is pending, when it needs work. */
  sendAndWait(asked: Asked): Promise<Answer>;
}

const checks = new Map<unknown, DescriptionCheck>();

/** Apps with the same operations have the same description, so it is read once. */
async function publishedCheck(
  operations: TestAppOptions['extra'],
  ask: Wire['send'],
): Promise<DescriptionCheck> {
  const known = checks.get(operations);
  if (known !== undefined) return known;
  const paths = ['/api/v1/openapi.json', '/api/openapi.json'];
  const answers = await Promise.all(paths.map((path) => ask({ method: 'GET', path })));
  const check = createDescriptionCheck(answers.map(({ body }) => body as Description));
  checks.set(operations, check);
  return check;
}

const ORIGIN = 'http://questline.test';

export async function createWire(options: TestAppOptions = {}): Promise<Wire> {
  const app = await createTestApp(options);
  const handle = toFetchHandler(app.api);
  const ask = async (asked: Asked): Promise<Answer> => {
    const response = await handle(new Request(`${ORIGIN}${asked.path}`, toInit(asked)));
    if (response === undefined)
      return { status: 0, headers: {}, text: 'passed on to the host', body: undefined };
    const length = response.headers.get('content-length');
    const answer = await toAnswer(response);
    if (length !== null && asked.method !== 'HEAD' && Number(length) !== Buffer.byteLength(answer.text))
      throw new Error(`content-length is ${length}, the body has ${Buffer.byteLength(answer.text)} bytes`);
    return answer;
  };
  const description = await publishedCheck(options.extra, ask);
  const send: Wire['send'] = async (asked) => {
    const answer = await ask(asked);
    if (answer.status !== 0) description.check(asked.method, asked.path, answer);
    return answer;
  };
  return {
    app,
    description,
    send,
    async sendAndWait(asked) {
      let isOver = false;
      const answer = send(asked).finally(() => {
        isOver = true;
      });
      // The error is reported to the caller below; this avoids an unhandled rejection.
      answer.catch(() => undefined);
      for (let turn = 0; turn < 1000 && !isOver; turn++) {
        // Threads of the process, e.g. for signatures, take real time: the clock must not pass deadlines meanwhile.
        if (turn >= 50) await setTimeout(1);
        await app.clock.advance(turn < 50 ? 0 : 1000);
      }
      return answer;
    },
  };
}
