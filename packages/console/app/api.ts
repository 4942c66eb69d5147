/** What the server refused, in its own words. */
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

const TOKEN = 'questline.token';

/** The one thing this page keeps: who is signed in. */
export const session = {
  token: (): string | null => localStorage.getItem(TOKEN),
  begin: (token: string): void => localStorage.setItem(TOKEN, token),
  end: (): void => localStorage.removeItem(TOKEN),
};

/** Told when the server no longer believes the session. */
export const SIGNED_OUT = 'questline:signed-out';

/**
 * One call of the api.
 * @throws ApiFailure for every refusal; it says what the server said.
 */
export async function call<T>(
  method: string,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<T> {
  const token = session.token();
  const answer = await fetch(`.${path}`, {
    method,
    headers: {
      ...(token !== null && { Authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal !== undefined && { signal }),
  });
  const text = await answer.text();
  const parsed = text === '' ? {} : parse(text);
  if (answer.ok) return parsed as T;
  // A model provider that refuses its key is a 401 as well, but asks for no other credential.
  const isOurs = answer.headers.has('WWW-Authenticate');
  if (answer.status === 401 && isOurs && token !== null) dispatchEvent(new Event(SIGNED_OUT));
  throw new ApiFailure(answer.status, parsed);
}

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}

/** The words to show for anything that went wrong. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
