import type { ClientOptions, CredentialSource } from './client.ts';
import { QuestlineError, readError } from './error.ts';
import { readFrames } from './events.ts';
import type { Answer, CallOptions, Fetch, Operation } from './operation.ts';
import { type AnyInput, createKey, toBody, toUrl } from './request.ts';

interface SenderOptions extends ClientOptions {
  readonly baseUrl: string;
  readonly wait: NonNullable<ClientOptions['wait']>;
}

export type Sender = (
  operation: Operation,
  input: AnyInput,
  options?: CallOptions,
) => Promise<Answer<unknown>>;

const DEFAULT_RETRIES = 2;
const DEFAULT_MAX_RETRY_DELAY_MS = 30_000;
/** Before the first repetition after a network failure; it doubles. */
const FIRST_DELAY_MS = 500;

/** Sends requests with credentials, and repeats those that may be repeated. */
export function createSender(options: SenderOptions): Sender {
  const { baseUrl, wait, maxRetryDelayMs = DEFAULT_MAX_RETRY_DELAY_MS } = options;
  const credentials = createCredentials(options.credential, (operation, input, callOptions) =>
    send(operation, input, callOptions),
  );

  const send: Sender = async (operation, input, callOptions = {}) => {
    const { signal, retries = options.retries ?? DEFAULT_RETRIES, transport } = callOptions;
    const url = toUrl(baseUrl, operation, input);
    const fetch: Fetch =
      transport?.(options.fetch) ?? options.fetch ?? ((...args) => globalThis.fetch(...args));
    const isSigned = input.link !== undefined;
    const isOpen = operation.open === true;
    const { body, type } = toBody(operation, input);
    const key = callOptions.idempotencyKey ?? (operation.idempotent === true ? createKey() : undefined);
    const headers = new Headers({
      ...(!isSigned && (typeof options.headers === 'function' ? await options.headers() : options.headers)),
      ...(type !== undefined && { 'content-type': type }),
      ...(key !== undefined && { 'idempotency-key': key }),
      ...callOptions.headers,
    });
    const isRepeatable = operation.method === 'GET' || operation.idempotent === true;
    signal?.throwIfAborted();
    let token = isOpen ? undefined : await abortable(credentials(undefined), signal);
    let isRenewed = false;
    for (let attempt = 0; ; attempt += 1) {
      if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
      let error: QuestlineError;
      try {
        const response = await fetch(url, {
          method: operation.method,
          headers,
          ...(body !== undefined && { body }),
          ...(isStream(body) && { duplex: 'half' as const }),
          ...(signal !== undefined && { signal }),
          ...(isSigned
            ? { credentials: 'omit' }
            : options.cookies !== undefined && { credentials: options.cookies }),
        });
        // Chromium accepts a head that broke off within the status.
        if (response.status < 100) throw new TypeError(`an answer with the status ${response.status}`);
        if (response.ok) return await readAnswer(operation, response, signal);
        error = await readError(response);
        signal?.throwIfAborted();
      } catch (cause) {
        signal?.throwIfAborted();
        if (cause instanceof QuestlineError) throw cause;
        error = new QuestlineError('The server could not be reached, or its answer broke off.', {
          code: 'network_error',
          cause,
        });
      }
      if (isRejectedToken(error) && token !== undefined && !isRenewed && !isStream(body)) {
        const renewed = await abortable(credentials(token), signal);
        if (renewed === undefined || renewed === token) throw error;
        token = renewed;
        isRenewed = true;
        // Not counted as a retry: the server has executed nothing.
        attempt -= 1;
        continue;
      }
      const delay = attempt < retries && !isStream(body) ? getDelay(error, attempt, isRepeatable) : undefined;
      if (delay === undefined || delay > maxRetryDelayMs) throw error;
      await wait(delay, signal);
    }
  };
  return send;
}

/** 401 of a provider says that its key is wrong, not the caller's. */
function isRejectedToken({ status, code }: QuestlineError): boolean {
  return status === 401 && code !== 'provider_rejected';
}

/**
 * Returns milliseconds, or undefined if the request must not be repeated. 429: the server has executed nothing. 503 and network
 * failures: only what changes nothing or has an idempotency key, and calls that the provider refused.
 */
function getDelay(error: QuestlineError, attempt: number, isRepeatable: boolean): number | undefined {
  const { status, code, retryAfter } = error;
  if (status === undefined) return isRepeatable ? FIRST_DELAY_MS * 2 ** attempt : undefined;
  const isSafe = status === 429 || (status === 503 && (isRepeatable || code === 'provider_overloaded'));
  return isSafe && retryAfter !== undefined ? retryAfter * 1000 : undefined;
}

function isStream(body: unknown): boolean {
  return body instanceof ReadableStream;
}

async function readAnswer(
  { id }: Operation,
  response: Response,
  signal: AbortSignal | undefined,
): Promise<Answer<unknown>> {
  const { status, headers } = response;
  const type = headers.get('content-type') ?? '';
  const requestId = headers.get('x-request-id') ?? undefined;
  const answer = (data: unknown): Answer<unknown> => ({ status, headers, requestId, data });
  if (status === 204) return answer(undefined);
  if (type.startsWith('text/event-stream')) return answer(readFrames(response, signal));
  if (!type.startsWith('application/json')) return answer(response);
  const text = await response.text();
  try {
    return answer(JSON.parse(text));
  } catch (cause) {
    throw new QuestlineError(`The answer to ${id} is no JSON.`, {
      status,
      code: 'invalid_answer',
      requestId,
      body: text,
      cause,
    });
  }
}

/** Returns the token of the next request. Calls with the same rejected token share one renewal. */
function createCredentials(
  source: string | CredentialSource | undefined,
  send: Sender,
): (rejected: string | undefined) => Promise<string | undefined> {
  if (typeof source !== 'function') return async () => source;
  const call = async (operation: Operation, input?: unknown, callOptions?: CallOptions): Promise<never> =>
    (await send(operation, (input ?? {}) as AnyInput, callOptions)).data as never;
  const renewals = new Map<string, Promise<string | undefined>>();
  return async (rejected) => {
    if (rejected === undefined) return source({ call });
    const known = renewals.get(rejected);
    if (known !== undefined) return known;
    const renewal = Promise.resolve(source({ rejected, call })).finally(() => renewals.delete(rejected));
    renewals.set(rejected, renewal);
    return renewal;
  };
}

/** A renewal goes on for other calls when one of them is aborted. */
function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    signal.addEventListener('abort', stop);
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
