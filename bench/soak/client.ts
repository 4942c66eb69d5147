import { Agent, request } from 'undici';

/** One workspace as its clients see it, and what it has told them so far. */
export interface Client {
  readonly url: string;
  /** Everything that must never be in a log: keys, tokens, codes, signatures of addresses. */
  readonly secrets: Set<string>;
  /** Answers by the hundred of their status. */
  readonly statuses: Map<string, number>;
  /** Where an answer was the server's fault. */
  readonly faults: string[];
  ask<T = unknown>(method: Method, path: string, wish?: Wish): Promise<Answer<T>>;
  /** Reads a stream of events. @param leave says after which text the client leaves. @returns whether it came to its end. */
  listen(path: string, wish: Wish, leave?: (text: string) => boolean): Promise<boolean>;
  /** Ends all connections; the next request opens new ones. */
  hangUp(): Promise<void>;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Wish {
  readonly credential?: string;
  /** JSON, unless it is bytes. */
  readonly body?: object | Uint8Array | string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer<T> {
  readonly status: number;
  /** As whoever asked expects it. */
  readonly body: T;
  readonly bytes: Buffer;
}

/** What stands in an answer that is no refusal. */
export function must<T>({ status, body, bytes }: Answer<T>): T {
  if (status >= 400) throw new Error(`${status} ${bytes.toString().slice(0, 200)}`);
  return body;
}

const CONNECTIONS = 64;

export function createClient(url: string): Client {
  let agent = new Agent({ connections: CONNECTIONS, bodyTimeout: 60_000, headersTimeout: 60_000 });
  const statuses = new Map<string, number>();
  const faults: string[] = [];

  const send = async (method: Method, path: string, wish: Wish, signal?: AbortSignal) => {
    const { credential, body, headers } = wish;
    const isRaw = body === undefined || typeof body === 'string' || body instanceof Uint8Array;
    const answer = await request(path.startsWith('http') ? path : url + path, {
      method,
      dispatcher: agent,
      body: isRaw ? (body ?? null) : JSON.stringify(body),
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(credential !== undefined && { authorization: `Bearer ${credential}` }),
        ...headers,
      },
      ...(signal !== undefined && { signal }),
    });
    const kind = `${Math.floor(answer.statusCode / 100)}xx`;
    statuses.set(kind, (statuses.get(kind) ?? 0) + 1);
    if (answer.statusCode >= 500) faults.push(`${answer.statusCode} ${method} ${path.split('?')[0]}`);
    return answer;
  };

  return {
    url,
    secrets: new Set(),
    statuses,
    faults,
    async ask<T>(method: Method, path: string, wish: Wish = {}) {
      const answer = await send(method, path, wish);
      const bytes = Buffer.from(await answer.body.arrayBuffer());
      const isJson = String(answer.headers['content-type']).startsWith('application/json');
      const body = (isJson ? JSON.parse(bytes.toString()) : undefined) as T;
      return { status: answer.statusCode, body, bytes };
    },
    async listen(path, wish, leave = () => false) {
      const control = new AbortController();
      let text = '';
      try {
        const answer = await send('POST', path, wish, control.signal);
        for await (const chunk of answer.body) {
          text = (text + String(chunk)).slice(-2000);
          if (leave(text)) control.abort();
        }
      } catch (error) {
        if (!control.signal.aborted) throw error;
        return false;
      }
      return text.endsWith('data: [DONE]\n\n');
    },
    async hangUp() {
      const old = agent;
      agent = new Agent({ connections: CONNECTIONS, bodyTimeout: 60_000, headersTimeout: 60_000 });
      await old.destroy();
    },
  };
}
