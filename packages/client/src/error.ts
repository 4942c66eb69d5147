/** A problem with one field of a request. */
export interface FieldProblem {
  /** The field, such as `messages.0.content`; empty: the whole body. */
  readonly path: string;
  readonly message: string;
}

/** What a failed call cost. */
export interface Charge {
  readonly credits: number;
}

/** A failure of the model's provider. */
export interface ProviderProblem {
  readonly status?: number;
  readonly code?: string;
  readonly param?: string;
  /** Seconds. */
  readonly retryAfter?: number;
}

export interface QuestlineErrorOptions {
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly fields?: readonly FieldProblem[];
  readonly requestId?: string | undefined;
  readonly retryAfter?: number | undefined;
  readonly charge?: Charge | undefined;
  readonly provider?: ProviderProblem | undefined;
  readonly body?: unknown;
  readonly cause?: unknown;
}

/** Every failure of a call, except an abort: that rejects with the reason of the signal. */
export class QuestlineError extends Error {
  override readonly name = 'QuestlineError';
  /** The HTTP status. Undefined: no answer, or a failure inside a stream or a quest. */
  readonly status: number | undefined;
  /**
   * The code to branch on: of the API (docs/guides/errors.md), or `network_error` (no answer), `stream_interrupted` (an
   * answer that broke off), `invalid_answer` (not an answer of the API). Undefined: only the status says what happened.
   */
  readonly code: string | undefined;
  /** The invalid fields, for 400 and 422. */
  readonly fields: readonly FieldProblem[];
  readonly requestId: string | undefined;
  /** Seconds to wait before a retry. */
  readonly retryAfter: number | undefined;
  /** The charge, if the answer contains it. Undefined: unknown; a request that was refused with a 4xx costs nothing. */
  readonly charge: Charge | undefined;
  readonly provider: ProviderProblem | undefined;
  /** The body of the answer: parsed if it is JSON, else text. */
  readonly body: unknown;

  constructor(message: string, options: QuestlineErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.status = options.status;
    this.code = options.code;
    this.fields = options.fields ?? [];
    this.requestId = options.requestId;
    this.retryAfter = options.retryAfter;
    this.charge = options.charge;
    this.provider = options.provider;
    this.body = options.body;
  }
}

/** Whether a later attempt can succeed without a change. */
export function isTemporary(error: unknown): boolean {
  if (!(error instanceof QuestlineError)) return false;
  const { code, status = 0 } = error;
  return code === 'network_error' || code === 'stream_interrupted' || status >= 500 || status === 429;
}

interface ErrorBody {
  readonly error?: string | { readonly code?: string; readonly message?: string; readonly details?: unknown };
  readonly error_description?: string;
  readonly message?: string;
  readonly errorCode?: string;
  readonly providerError?: ProviderProblem;
  readonly request_id?: string;
}

/** Reads an error response of any of the API's formats. */
export async function readError(response: Response): Promise<QuestlineError> {
  const { status, headers } = response;
  const text = await response.text();
  const body = parse(text);
  const { error, error_description, message, errorCode, providerError, request_id }: ErrorBody =
    typeof body === 'object' && body !== null ? body : {};
  const inner = typeof error === 'object' ? error : undefined;
  const said =
    inner?.message ?? error_description ?? message ?? (typeof error === 'string' ? error : undefined);
  const provider =
    providerError ?? (inner?.details as { providerError?: ProviderProblem } | undefined)?.providerError;
  return new QuestlineError(said ?? `The server answered ${status}.`, {
    status,
    // The format of OAuth has the code in `error`.
    code:
      errorCode ??
      inner?.code ??
      (error_description !== undefined ? (error as string | undefined) : undefined),
    fields: readFields(status, inner?.details, errorCode === undefined ? said : undefined),
    requestId: headers.get('x-request-id') ?? request_id,
    retryAfter: toSeconds(headers.get('retry-after')) ?? provider?.retryAfter,
    provider,
    body: body ?? text,
  });
}

function readFields(status: number, details: unknown, message: string | undefined): readonly FieldProblem[] {
  if (Array.isArray(details)) return details;
  // The public format has no list of fields: its messages begin with the field.
  const [, path, problem] = /^([\w$[\]-]+(?:\.[\w$[\]-]+)*): (.+)$/s.exec(message ?? '') ?? [];
  if (path === undefined || problem === undefined || (status !== 400 && status !== 422)) return [];
  return [{ path, message: problem }];
}

function toSeconds(header: string | null): number | undefined {
  const seconds = header === null ? Number.NaN : Number(header);
  return Number.isFinite(seconds) ? seconds : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
