import type { Session } from './session.ts';

/** An error response; the message is the server's. */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure';
  readonly status: number;
  readonly code: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;

  constructor(status: number, body: Readonly<Record<string, unknown>>) {
    const { error, errorCode } = body;
    const nested =
      typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : undefined;
    super(String(nested?.message ?? error ?? `The server answered ${status}`));
    this.status = status;
    const code = nested?.code ?? errorCode;
    this.code = typeof code === 'string' ? code : undefined;
    this.body = body;
  }
}

/**
 * Sends one API request.
 * @throws ApiFailure for every error response, with the server's message.
 */
export type Call = <T>(method: string, path: string, body?: unknown, signal?: AbortSignal) => Promise<T>;

/** @param onSignedOut called when the server rejects the session and there is no new one. */
export function createCall(root: string, session: Session, onSignedOut: () => void): Call {
  const send = async (method: string, path: string, body: unknown, signal: AbortSignal | undefined) => {
    const token = await session.getToken();
    return fetch(`${root}${path}`, {
      method,
      headers: {
        ...(token !== null && { Authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    });
  };
  return async <T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> => {
    let answer = await send(method, path, body, signal);
    if (isRejected(answer) && (await session.renew())) answer = await send(method, path, body, signal);
    const parsed = parse(await answer.text());
    if (answer.ok) return parsed as T;
    if (isRejected(answer) && session.isOpen()) onSignedOut();
    throw new ApiFailure(answer.status, parsed);
  };
}

/** A model provider that rejects its key is a 401 as well, but the session stays valid. */
function isRejected(answer: Response): boolean {
  return answer.status === 401 && answer.headers.has('WWW-Authenticate');
}

function parse(text: string): Record<string, unknown> {
  if (text === '') return {};
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}

/** The message to show for an error. */
export function toMessage(error: unknown): string {
  // The browser's own words for a server that cannot be reached.
  if (error instanceof TypeError && /fetch/i.test(error.message)) return 'The server cannot be reached.';
  return error instanceof Error ? error.message : String(error);
}
