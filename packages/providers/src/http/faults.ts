import { isProviderError, ProviderError, type ProviderErrorKind } from '@questline/core';
import type { Refusal } from './exchange.ts';

/** What a protocol reads out of an error it was sent. */
export interface ErrorReading {
  readonly message?: string | undefined;
  /** Where the protocol's own word says more than the status. */
  readonly kind?: ProviderErrorKind | undefined;
  readonly retryAfterMs?: number | undefined;
}

/** Reads an error body or an error event. `status` is 0 for an event. */
export type ErrorReader = (body: unknown, status: number) => ErrorReading;

const textLimit = 500;

const kinds: Readonly<Record<number, ProviderErrorKind>> = {
  400: 'invalid_request',
  401: 'rejected_key',
  402: 'rejected_key',
  403: 'rejected_key',
  408: 'timeout',
  413: 'invalid_request',
  422: 'invalid_request',
  429: 'overloaded',
  503: 'overloaded',
  504: 'timeout',
  529: 'overloaded',
};

const transportTimeouts: ReadonlySet<string> = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
]);

/** Makes the errors of one call: each with a class, none with a key in its text. */
export class Faults {
  readonly #provider: string;
  readonly #key: string;
  readonly #read: ErrorReader;

  constructor(provider: string, key: string, read: ErrorReader) {
    this.#provider = provider;
    this.#key = key;
    this.#read = read;
  }

  /** An answer that is not the one asked for. */
  refusal({ status, headers, text }: Refusal): ProviderError {
    const body = parse(text);
    const reading = this.#read(body, status);
    const location = headers.location;
    const said =
      status >= 300 && status < 400
        ? `a redirect to ${typeof location === 'string' ? location : 'nowhere'}`
        : (reading.message ?? text);
    const kind = reading.kind ?? kinds[status] ?? 'failed';
    const retryAfterMs = kind === 'overloaded' ? (reading.retryAfterMs ?? retryAfter(headers)) : undefined;
    return this.#error(kind, `answered ${status}: ${said}`, retryAfterMs);
  }

  /** An error told in the middle of a stream. */
  event(body: unknown): ProviderError {
    const reading = this.#read(body, 0);
    const said = reading.message ?? JSON.stringify(body);
    return this.#error(reading.kind ?? 'failed', `broke off: ${said}`, reading.retryAfterMs);
  }

  /** Whatever was thrown on the way. */
  other(error: unknown): ProviderError {
    if (isProviderError(error)) {
      return this.#error(error.kind, error.message, error.retryAfterMs);
    }
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof SyntaxError)
      return this.#error('failed', `sent an event that is not JSON: ${message}`);
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (transportTimeouts.has(code)) return this.#error('timeout', `${message} (${code})`);
    return this.#error('failed', code === '' ? message : `${message} (${code})`);
  }

  timeout(milliseconds: number): ProviderError {
    return this.#error('timeout', `sent nothing for ${milliseconds} ms`);
  }

  #error(kind: ProviderErrorKind, said: string, retryAfterMs?: number): ProviderError {
    const prefix = `${this.#provider}: `;
    const whole = said.startsWith(prefix) ? said : prefix + said;
    // The key first, then the cut: a key at the border must not survive by half.
    const text = this.#key === '' ? whole : whole.replaceAll(this.#key, '[key]');
    return new ProviderError(
      kind,
      text.length > textLimit ? `${text.slice(0, textLimit)}...` : text,
      retryAfterMs === undefined ? {} : { retryAfterMs },
    );
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The wait a `Retry-After` asks for, in milliseconds. A date counts from the answer's own date. */
function retryAfter(headers: Refusal['headers']): number | undefined {
  const exact = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (exact >= 0) return exact;
  const value = headers['retry-after'];
  if (typeof value !== 'string') return undefined;
  const seconds = Number(value);
  if (seconds >= 0) return Math.ceil(seconds * 1000);
  const until = Date.parse(value);
  const from = typeof headers.date === 'string' ? Date.parse(headers.date) : Date.now();
  return Number.isNaN(until) || Number.isNaN(from) ? undefined : Math.max(0, until - from);
}
