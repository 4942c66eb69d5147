import type { Media } from './media.ts';
import type { CallOptions } from './options.ts';
import type { ExtractOptions } from './text-extractor.ts';

/** One result of a web search. */
export interface SearchHit {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

/** The text of a page, or a part of it. */
export interface WebPage {
  /** The final URL after redirects. */
  readonly url: string;
  readonly title: string | null;
  readonly text: string;
  /** Start of this part, in characters. */
  readonly offset: number;
  /** Start of the next part; null at the end of the page. */
  readonly nextOffset: number | null;
}

/**
 * The current weather: degrees and wind speed in the units of `units` (imperial: Fahrenheit and miles per hour;
 * metric: Celsius and kilometers per hour).
 */
export interface Weather {
  readonly description: string;
  readonly temperature: number;
  readonly feelsLike: number;
  /** Percent. */
  readonly humidity: number;
  readonly windSpeed: number;
  readonly units: 'imperial' | 'metric';
}

/**
 * Access to the web for tools. Every member is optional; without it, its tool reports that it is not configured. All
 * members reject with a `WebToolError`. SSRF protection: an implementation never connects to private, loopback or
 * link-local addresses, also after redirects.
 */
export interface WebTools {
  search?(query: string, count: number, options?: CallOptions): Promise<readonly SearchHit[]>;
  /** @param options `owner`: fairness key of documents at addresses, which an extractor reads. */
  fetchPage?(url: string, offset: number, options?: ExtractOptions): Promise<WebPage>;
  /** Downloads a complete file. @param limits `accept`: accepted media type prefixes; `maxBytes`: maximum size. */
  fetchFile?(
    url: string,
    limits: { readonly accept: readonly string[]; readonly maxBytes: number },
    options?: CallOptions,
  ): Promise<Media>;
  weather?(
    place: { readonly lat: number; readonly lon: number },
    units: 'imperial' | 'metric',
    options?: CallOptions,
  ): Promise<Weather>;
}

/** The reason of a failure, as clients see it. */
export type WebToolErrorKind =
  | 'INVALID_INPUT'
  | 'API_KEY_MISSING'
  | 'EXTERNAL_API_ERROR'
  | 'RATE_LIMIT'
  | 'NETWORK_ERROR';

/**
 * The message is for the client: it describes the problem and never contains a key, a resolved IP address or text
 * from the remote server.
 */
export class WebToolError extends Error {
  override readonly name = 'WebToolError';
  readonly kind: WebToolErrorKind;
  constructor(kind: WebToolErrorKind, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.kind = kind;
  }
}

/** Compares the name, not the class: the ESM and CommonJS builds of this module may both be loaded. */
export function isWebToolError(error: unknown): error is WebToolError {
  return error instanceof Error && error.name === 'WebToolError' && 'kind' in error;
}
