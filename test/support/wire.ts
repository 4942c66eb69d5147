import { type Description, toFetchHandler } from '@questline/core';
import { createDescriptionCheck, type DescriptionCheck } from './description.ts';
import { createWorld, type World, type WorldOptions } from './world.ts';

/** A request as a client writes it. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes as they are, text as it is with the type of JSON, everything else as JSON. */
  readonly body?: unknown;
}

/** An answer, whole. */
export interface Answer {
  readonly status: number;
  /** Names in lower case. Those that only say how the bytes travel are left out. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** Parsed when it is JSON. */
  readonly body: unknown;
}

/** How bytes travel is the host's business, and differs from one to another. */
const OF_TRANSPORT = ['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding'];

export async function toAnswer(response: Response): Promise<Answer> {
  const text = await response.text();
  const headers = Object.fromEntries(response.headers);
  for (const name of OF_TRANSPORT) delete headers[name];
  const isJson = headers['content-type']?.startsWith('application/json') === true && text !== '';
  return { status: response.status, headers, text, body: isJson ? JSON.parse(text) : text };
}

/** What `fetch` and `Request` are given for a question. */
export function toInit({ method, headers = {}, body }: Asked): RequestInit {
  if (body === undefined) return { method, headers };
  if (body instanceof Uint8Array) return { method, headers, body: body as Uint8Array<ArrayBuffer> };
  return {
    method,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  };
}

/** A world that is spoken to over its wire, every answer held against the description. */
export interface Wire {
  readonly world: World;
  readonly description: DescriptionCheck;
  send(asked: Asked): Promise<Answer>;
  /** Lets time pass while the answer is awaited, once nothing moves without it: some answers wait for work. */
  sendAndWait(asked: Asked): Promise<Answer>;
}

const checks = new Map<unknown, DescriptionCheck>();

/** Worlds of the same operations publish the same description; reading it once is enough, and faster. */
async function publishedCheck(
  operations: WorldOptions['extra'],
  ask: Wire['send'],
): Promise<DescriptionCheck> {
  const known = checks.get(operations);
  if (known !== undefined) return known;
  const { body } = await ask({ method: 'GET', path: '/api/v1/openapi.json' });
  const check = createDescriptionCheck(body as Description);
  checks.set(operations, check);
  return check;
}

const ORIGIN = 'http://questline.test';

export async function createWire(options: WorldOptions = {}): Promise<Wire> {
  const world = await createWorld(options);
  const handle = toFetchHandler(world.api);
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
    world,
    description,
    send,
    async sendAndWait(asked) {
      let isOver = false;
      const answer = send(asked).finally(() => {
        isOver = true;
      });
      // Heard of here; what it says is told to whoever awaits it below.
      answer.catch(() => undefined);
      for (let turn = 0; turn < 1000 && !isOver; turn++) await world.clock.advance(turn < 50 ? 0 : 1000);
      return answer;
    },
  };
}
