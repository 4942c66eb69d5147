import { Agent, request } from 'undici';

/** Clients of one workspace, and the responses so far. */
export interface Client {
  readonly url: string;
  /** Secrets that no log may contain: keys, tokens, codes, signatures of URLs. */
  readonly secrets: Set<string>;
  /** Responses by status class. */
  readonly statuses: Map<string, number>;
  /** Requests with a 5xx response. */
  readonly faults: string[];
  ask<T = unknown>(method: Method, path: string, options?: RequestOptions): Promise<Answer<T>>;
  /** Reads an event stream. @param leave decides after which text the client disconnects. @returns whether the stream ended. */
  listen(path: string, options: RequestOptions, leave?: (text: string) => boolean): Promise<boolean>;
  /** Ends all connections; the next request opens new ones. */
  hangUp(): Promise<void>;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface RequestOptions {
  readonly credential?: string;
  /** JSON, unless it is bytes. */
  readonly body?: object | Uint8Array | string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer<T> {
  readonly status: number;
  /** The response has the expected form. */
  readonly body: T;
  readonly bytes: Buffer;
}

/** The body of a successful response. */
export function must<T>({ status, body, bytes }: Answer<T>): T {
  if (status >= 400) throw new Error(`${status} ${bytes.toString().slice(0, 200)}`);
  return body;
}

const CONNECTIONS = 64;

export function createClient(url: string): Client {
  let agent = new Agent({ connections: CONNECTIONS, bodyTimeout: 60_000, headersTimeout: 60_000 });
  const statuses = new Map<string, number>();
  const faults: string[] = [];

  const send = async (method: Method, path: string, options: RequestOptions, signal?: AbortSignal) => {
    const { credential, body, headers } = options;
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
    async ask<T>(method: Method, path: string, options: RequestOptions = {}) {
      const answer = await send(method, path, options);
      const bytes = Buffer.from(await answer.body.arrayBuffer());
      const isJson = String(answer.headers['content-type']).startsWith('application/json');
      const body = (isJson ? JSON.parse(bytes.toString()) : undefined) as T;
      return { status: answer.statusCode, body, bytes };
    },
    async listen(path, options, leave = () => false) {
      const control = new AbortController();
      let text = '';
      try {
        const answer = await send('POST', path, options, control.signal);
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
