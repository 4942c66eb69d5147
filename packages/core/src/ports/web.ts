import type { Media } from './media.ts';
import type { CallOptions } from './options.ts';

export interface SearchHit {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

/** A page as text, or a part of it. */
export interface WebPage {
  /** Where it was found in the end, redirects followed. */
  readonly url: string;
  readonly title: string | null;
  readonly text: string;
  /** Characters skipped at its front. */
  readonly offset: number;
  /** Where the next part begins; null at the end. */
  readonly nextOffset: number | null;
}

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
 * The world outside. Each member may be missing: its tool then says that it is not configured. All reject with a
 * `WebToolError`. Fetching never touches private, loopback or link-local addresses, after redirects too.
 */
export interface WebTools {
  search?(query: string, count: number, options?: CallOptions): Promise<readonly SearchHit[]>;
  fetchPage?(url: string, offset: number, options?: CallOptions): Promise<WebPage>;
  /**
   * A file as it is, whole.
   * @param terms what its type must begin with, one of several, and how large it may be.
   */
  fetchFile?(
    url: string,
    terms: { readonly accept: readonly string[]; readonly maxBytes: number },
    options?: CallOptions,
  ): Promise<Media>;
  weather?(
    place: { readonly lat: number; readonly lon: number },
    units: 'imperial' | 'metric',
    options?: CallOptions,
  ): Promise<Weather>;
}

export type WebToolErrorKind =
  | 'INVALID_INPUT'
  | 'API_KEY_MISSING'
  | 'EXTERNAL_API_ERROR'
  | 'RATE_LIMIT'
  | 'NETWORK_ERROR';

/** Its message is for the caller: it names the fault, never a key, an address looked up, or the remote's own words. */
export class WebToolError extends Error {
  override readonly name = 'WebToolError';
  readonly kind: WebToolErrorKind;
  constructor(kind: WebToolErrorKind, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.kind = kind;
  }
}

/** Told by name: the ESM and CommonJS builds of this module may both be loaded. */
export function isWebToolError(error: unknown): error is WebToolError {
  return error instanceof Error && error.name === 'WebToolError' && 'kind' in error;
}
