import {
  isProviderError,
  ProviderError,
  type ProviderErrorKind,
  type ProviderErrorOptions,
} from '@questline/core/ports';
import type { ErrorResponse } from './exchange.ts';

/** The parsed fields of an error response. */
export interface ErrorReading {
  readonly message?: string | undefined;
  /** The kind of error, where the protocol's code is more specific than the status. */
  readonly kind?: ProviderErrorKind | undefined;
  readonly retryAfterMs?: number | undefined;
  /** The protocol's error code and parameter. */
  readonly code?: string | undefined;
  readonly param?: string | undefined;
}

/** Reads an error body or an error event. `status` is 0 for an event. */
export type ErrorReader = (body: unknown, status: number) => ErrorReading;

const textLimit = 500;

const kinds: Readonly<Record<number, ProviderErrorKind>> = {
  400: 'invalid_request',
  401: 'rejected_key',
  402: 'rejected_key',
  403: 'rejected_key',
  404: 'invalid_request',
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

/** Creates the errors of one call, with a kind and without keys in their texts. */
export class Faults {
  readonly #provider: string;
  readonly #key: string;
  readonly #read: ErrorReader;

  constructor(provider: string, key: string, read: ErrorReader) {
    this.#provider = provider;
    this.#key = key;
    this.#read = read;
  }

  /** An error for an unexpected response. */
  refusal({ status, headers, text }: ErrorResponse): ProviderError {
    const body = parse(text);
    const reading = this.#read(body, status);
    const location = headers.location;
    const said =
      status >= 300 && status < 400
        ? `a redirect to ${typeof location === 'string' ? location : 'nowhere'}`
        : (reading.message ?? text);
    const kind =
      reading.kind ?? kinds[status] ?? (isOtherAnswer(status, reading) ? 'malformed_answer' : 'failed');
    const retryAfterMs = kind === 'overloaded' ? (reading.retryAfterMs ?? retryAfter(headers)) : undefined;
    const { code, param } = reading;
    return this.#error(kind, `answered ${status}: ${said}`, { status, code, param, retryAfterMs });
  }

  /** An error event in the middle of a stream. */
  event(body: unknown): ProviderError {
    const reading = this.#read(body, 0);
    const said = reading.message ?? JSON.stringify(body);
    const { kind = 'failed', code, param, retryAfterMs } = reading;
    return this.#error(kind, `broke off: ${said}`, { code, param, retryAfterMs });
  }

  /** Converts any thrown value. */
  other(error: unknown): ProviderError {
    if (isProviderError(error)) {
      return this.#error(error.kind, error.message, error);
    }
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof SyntaxError) {
      return this.#error('malformed_answer', `sent an event that is not JSON: ${message}`);
    }
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (transportTimeouts.has(code)) return this.#error('timeout', `${message} (${code})`);
    // A decoder expected an object.
    if (error instanceof TypeError && code === '') return this.#error('malformed_answer', message);
    return this.#error('failed', code === '' ? message : `${message} (${code})`);
  }

  timeout(milliseconds: number): ProviderError {
    return this.#error('timeout', `sent nothing for ${milliseconds} ms`);
  }

  #error(kind: ProviderErrorKind, said: string, about: ProviderErrorOptions = {}): ProviderError {
    const prefix = `${this.#provider}: `;
    const whole = said.startsWith(prefix) ? said : prefix + said;
    // Remove the key before truncating: otherwise half of a key at the cut would remain.
    const text = this.#key === '' ? whole : whole.replaceAll(this.#key, '[key]');
    const { status, code, param, retryAfterMs } = about;
    return new ProviderError(kind, text.length > textLimit ? `${text.slice(0, textLimit)}...` : text, {
      status,
      code: this.#unlessKey(code),
      param: this.#unlessKey(param),
      retryAfterMs,
    });
  }

  #unlessKey(label: string | undefined): string | undefined {
    return this.#key !== '' && label?.includes(this.#key) ? undefined : label;
  }
}

/** A redirect, or an unexpected success without content or with a page; not an error event in a success. */
function isOtherAnswer(status: number, { message }: ErrorReading): boolean {
  return status < 400 && message === undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The delay of `Retry-After` in milliseconds. A date is relative to the response's `Date`. */
function retryAfter(headers: ErrorResponse['headers']): number | undefined {
  const exact = Number(headers['retry-after-ms']);
  if (exact >= 0) return exact;
  const value = headers['retry-after'];
  if (typeof value !== 'string') return undefined;
  const seconds = Number(value);
  if (seconds >= 0) return Math.ceil(seconds * 1000);
  const until = Date.parse(value);
  const from = typeof headers.date === 'string' ? Date.parse(headers.date) : Date.now();
  return Number.isNaN(until) || Number.isNaN(from) ? undefined : Math.max(0, until - from);
}
