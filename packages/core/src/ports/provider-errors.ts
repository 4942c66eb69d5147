/** The reason of a provider failure. The error message is for operators; clients never see it. */
export type ProviderErrorKind =
  | 'rejected_key'
  | 'not_configured'
  | 'overloaded'
  | 'timeout'
  | 'context_length'
  | 'invalid_request'
  | 'content_blocked'
  /**
   * The response does not follow the provider's protocol: an HTML page, a redirect, or tool arguments that are not
   * valid JSON.
   */
  | 'malformed_answer'
  /** Connection failure, 5xx, truncated response, or any other failure. */
  | 'failed';

/** The failure of a provider call. `kind` decides about retries, fallbacks and the response of the client. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly kind: ProviderErrorKind;
  /** Retry delay that the provider requested, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** HTTP status of the provider's response. */
  readonly status: number | undefined;
  /**
   * The provider's machine-readable error code (`model_not_found`), never its message, which may repeat the prompt.
   * At most 80 letters, digits and `_.-[]`; undefined otherwise.
   */
  readonly code: string | undefined;
  /** The request parameter that the provider rejected (`reasoning_effort`). Same format as `code`. */
  readonly param: string | undefined;

  constructor(kind: ProviderErrorKind, message: string, options: ProviderErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.kind = kind;
    this.retryAfterMs = options.retryAfterMs;
    this.status = options.status;
    this.code = sanitizeLabel(options.code);
    this.param = sanitizeLabel(options.param);
  }
}

/** Keeps only a short machine-readable name. Other text may repeat the prompt. */
function sanitizeLabel(label: string | undefined): string | undefined {
  return label !== undefined && /^[\w.\-[\]]{1,80}$/.test(label) ? label : undefined;
}

/** Details of a `ProviderError`. */
export interface ProviderErrorOptions {
  readonly retryAfterMs?: number | undefined;
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly param?: string | undefined;
  readonly cause?: unknown;
}

/** Compares the name, not the class: the ESM and CommonJS builds of this module may both be loaded. */
export function isProviderError(error: unknown): error is ProviderError {
  return error instanceof Error && error.name === 'ProviderError' && 'kind' in error;
}
