import { setTimeout as pause } from 'node:timers/promises';
import type { ServerProcess } from './server.ts';

/** A user's client of the server. Requests are repeated when the server has just been killed. */
export interface HostileClient {
  call<T>(
    method: string,
    path: string,
    body?: object,
  ): Promise<{ readonly status: number; readonly body: T }>;
  /** @returns the ID of the clean file; undefined if it is blocked. */
  upload(file: { name: string; mimeType: string; bytes: Uint8Array }): Promise<string | undefined>;
  /** Interval of polls, in ms. */
  readonly pollMs: number;
}

const RETRY_MS = 100;
const RATE_LIMITED_MS = 1000;
let addresses = 0;

export interface HostileClientOptions {
  /** The current server: a kill replaces it. */
  readonly server: () => ServerProcess;
  /** Aborts every call. */
  readonly signal: AbortSignal;
  /** Receives the last answer to each request that is polled. */
  readonly underWay: Map<string, string>;
  readonly credential?: string;
  readonly pollMs?: number;
}

export function createHostileClient(options: HostileClientOptions): HostileClient {
  const { server, signal, underWay, credential, pollMs = 25 } = options;
  const call: HostileClient['call'] = async <T>(method: string, path: string, body?: object) => {
    for (;;) {
      signal.throwIfAborted();
      try {
        const answer = await fetch(`${server().url}${path}`, {
          method,
          signal,
          headers: {
            ...(credential !== undefined && { authorization: `Bearer ${credential}` }),
            ...(body !== undefined && { 'content-type': 'application/json' }),
            'x-forwarded-for': `10.0.${addresses >> 8}.${addresses & 255}`,
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
        const text = await answer.text();
        underWay.set(`${method} ${path}`, `${answer.status} ${text.slice(0, 300)}`);
        if (answer.status === 429) {
          await pause(RATE_LIMITED_MS);
          continue;
        }
        return { status: answer.status, body: (text === '' ? undefined : JSON.parse(text)) as T };
      } catch {
        await pause(RETRY_MS);
      }
    }
  };
  return {
    call,
    pollMs,
    async upload({ name, mimeType, bytes }) {
      const about = { file_name: name, mime_type: mimeType, file_size: bytes.length };
      const announced = await call<{ id: string; upload_url: string }>('POST', '/api/v1/files', about);
      if (announced.status >= 400)
        throw new Error(`a file was rejected: ${announced.status} ${JSON.stringify(announced.body)}`);
      const { id, upload_url } = announced.body;
      // A restarted server has another port.
      const { pathname, search } = new URL(upload_url, server().url);
      for (;;) {
        signal.throwIfAborted();
        try {
          const body = new Uint8Array(bytes);
          await fetch(`${server().url}${pathname}${search}`, {
            method: 'PUT',
            headers: { 'content-type': mimeType },
            body,
            signal,
          });
          break;
        } catch {
          await pause(RETRY_MS);
        }
      }
      for (;;) {
        const { body } = await call<{ moderation_status: string }>('GET', `/api/v1/files/${id}`);
        if (body.moderation_status === 'clean') return id;
        if (body.moderation_status === 'blocked') return undefined;
        await pause(pollMs);
      }
    },
  };
}

/** Signs a user in and creates an API key with all scopes. */
export async function signIn(
  options: HostileClientOptions,
  email: string,
): Promise<{ token: string; key: string }> {
  addresses += 1;
  const anyone = createHostileClient(options);
  const sent = await anyone.call<{ pendingToken: string }>('POST', '/api/otc/send', { email });
  const code = await options.server().codeFor(email);
  const { pendingToken } = sent.body;
  const [username] = email.split('@');
  const verified = await anyone.call<{ accessToken: string }>('POST', '/api/otc/verify', {
    email,
    code,
    pendingToken,
    username,
  });
  const token = verified.body.accessToken;
  const { body } = await createHostileClient({ ...options, credential: token }).call<{ key: string }>(
    'POST',
    '/api/user-api-keys',
    {
      name: 'all',
      preset: 'full',
      rateLimit: { requestsPerMinute: 10_000, requestsPerDay: 1_000_000 },
    },
  );
  return { token, key: body.key };
}
