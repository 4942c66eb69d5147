import { isProviderError, ProviderError, type ProviderErrorKind } from '@questline/core/ports';

type Fields = Readonly<Record<string, unknown>>;

const byStatus: Readonly<Record<number, ProviderErrorKind>> = {
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

/** Error names of vendors that are more specific than the status. */
const byWord: Readonly<Record<string, ProviderErrorKind>> = {
  authentication_error: 'rejected_key',
  permission_error: 'rejected_key',
  invalid_api_key: 'rejected_key',
  api_key_invalid: 'rejected_key',
  insufficient_quota: 'rejected_key',
  quota_exceeded: 'rejected_key',
  billing_error: 'rejected_key',
  billing_hard_limit_reached: 'rejected_key',
  unauthenticated: 'rejected_key',
  permission_denied: 'rejected_key',
  rate_limit_error: 'overloaded',
  rate_limit_exceeded: 'overloaded',
  overloaded_error: 'overloaded',
  server_overloaded: 'overloaded',
  engine_overloaded: 'overloaded',
  slow_down: 'overloaded',
  resource_exhausted: 'overloaded',
  unavailable: 'overloaded',
  timeout_error: 'timeout',
  deadline_exceeded: 'timeout',
  context_length_exceeded: 'context_length',
  too_many_prompt_tokens: 'context_length',
  string_above_max_length: 'context_length',
  content_policy_violation: 'content_blocked',
  content_filter: 'content_blocked',
  moderation_blocked: 'content_blocked',
  invalid_prompt: 'content_blocked',
  model_not_found: 'invalid_request',
  not_found_error: 'invalid_request',
  not_found: 'invalid_request',
  out_of_range: 'invalid_request',
  request_too_large: 'invalid_request',
  // A problem of the account or its location, not of the request: e.g. an unsupported region.
  failed_precondition: 'failed',
};

/** Names that are less specific than the status and the message. */
const byGeneralWord: Readonly<Record<string, ProviderErrorKind>> = {
  invalid_request_error: 'invalid_request',
  invalid_argument: 'invalid_request',
  api_error: 'failed',
  server_error: 'failed',
  internal: 'failed',
};

/** Error kinds that only the message reveals. */
const byText: readonly (readonly [RegExp, ProviderErrorKind])[] = [
  [
    /context (length|window|size)|exceeds? (the )?context|maximum (prompt|context|model) length|prompt is too long|too many tokens|input token count|reduce the length of/i,
    'context_length',
  ],
  [/(incorrect|invalid) api key|api key not valid|credit balance is too low/i, 'rejected_key'],
  [
    /usage (guidelines|polic)|content filter|responsible ai|safety (filter|polic|_?check)/i,
    'content_blocked',
  ],
];

/** An empty account, reported as a rate limit: waiting does not help, another key does. */
const emptyAccount =
  /used all available credits|exceeded your current quota|insufficient (balance|credits|funds)/i;

/** The SDK's own errors, by name: those of an invalid request; all others mean a malformed answer. */
const byName: Readonly<Record<string, ProviderErrorKind>> = {
  AI_LoadAPIKeyError: 'not_configured',
  AI_LoadSettingError: 'not_configured',
  AI_InvalidArgumentError: 'invalid_request',
  AI_InvalidPromptError: 'invalid_request',
  AI_NoSuchModelError: 'invalid_request',
  AI_UnsupportedFunctionalityError: 'invalid_request',
  AI_TooManyEmbeddingValuesForCallError: 'invalid_request',
  TimeoutError: 'timeout',
  AI_JSONParseError: 'malformed_answer',
  AI_TypeValidationError: 'malformed_answer',
  AI_InvalidResponseDataError: 'malformed_answer',
  AI_EmptyResponseBodyError: 'malformed_answer',
  AI_NoContentGeneratedError: 'malformed_answer',
};

const timeouts: ReadonlySet<unknown> = new Set([
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

const textLimit = 500;

/**
 * Converts an error that a model threw or streamed. Takes only status, names and text: the SDK's errors contain the
 * whole request, which must not be logged.
 * @param secrets strings to remove from the text.
 */
export function providerError(
  error: unknown,
  provider: string,
  secrets: readonly string[] = [],
): ProviderError {
  if (isProviderError(error)) return error;
  const fields = asFields(error);
  const status = typeof fields.statusCode === 'number' ? fields.statusCode : undefined;
  const said = getText(error, fields);
  const body = readBody(fields);
  const notes = getNotes(body);
  const labels = getLabels(fields, body, notes);
  const kind = getKind(fields, status, `${said}\n${splitWords(body)}`, labels);
  const retryAfterMs =
    kind === 'overloaded' ? (retryDelay(notes) ?? retryAfter(asFields(fields.responseHeaders))) : undefined;
  const answered = status === undefined ? '' : `answered ${status}: `;
  const isSecret = (label: string): boolean =>
    secrets.some((secret) => secret !== '' && label.includes(secret));
  const inner = asFields(body.error);
  const param = firstLabel(inner.param, body.param, violatedField(notes), getLocation(body));
  return new ProviderError(kind, `${provider}: ${cut(redact(answered + said, secrets))}`, {
    status,
    code: labels.find((label) => !isSecret(label)),
    param: param !== undefined && !isSecret(param) ? param : undefined,
    retryAfterMs,
  });
}

function getKind(
  fields: Fields,
  status: number | undefined,
  said: string,
  labels: readonly string[],
): ProviderErrorKind {
  const words = labels.map((label) => label.toLowerCase());
  const named = words.map((word) => byWord[word]).find((kind) => kind !== undefined);
  const general = words.map((word) => byGeneralWord[word]).find((kind) => kind !== undefined);
  if (status === 429 && emptyAccount.test(said)) return 'rejected_key';
  // If the name is no more specific than the status, the message decides.
  const isVague = named === undefined || named === 'invalid_request' || status === 403;
  const isRequest =
    status === undefined ? general !== undefined || named === undefined : textStatuses.has(status);
  if (isVague && isRequest && !words.includes('request_too_large')) {
    const kind = byText.find(([pattern]) => pattern.test(said))?.[1];
    if (kind !== undefined && (kind !== 'context_length' || status !== 403)) return kind;
  }
  if (named !== undefined) return named;
  if (status !== undefined && status !== 200) return byStatus[status] ?? 'failed';
  if (general !== undefined) return general;
  for (let cause: unknown = fields, depth = 0; isObject(cause) && depth < 4; cause = cause.cause, depth++) {
    const kind = byName[String(cause.name)];
    if (kind !== undefined) return kind;
    if (timeouts.has(cause.code)) return 'timeout';
  }
  return 'failed';
}

/** Statuses of rejected requests, whose message gives the reason. */
const textStatuses: ReadonlySet<number> = new Set([400, 403, 413, 422]);

function getText(error: unknown, fields: Fields): string {
  if (typeof error === 'string') return error;
  const said = text(fields.message) ?? text(asFields(fields.error).message);
  if (said !== undefined) return said;
  try {
    return JSON.stringify(error) ?? 'unknown';
  } catch {
    return 'unknown';
  }
}

/** The parsed body of the vendor's response, or the error itself if the stream reported it. */
function readBody(fields: Fields): Fields {
  const body = parse(fields.responseBody) ?? fields.data ?? fields;
  return asFields(Array.isArray(body) ? body[0] : body);
}

/** The vendor's message, in any of the known formats. */
function splitWords({ error, message, detail }: Fields): string {
  return (
    [asFields(error).message, error, message, detail].map(text).find((words) => words !== undefined) ?? ''
  );
}

/** Error details of Google's APIs. */
function getNotes(body: Fields): readonly Fields[] {
  const { details } = asFields(body.error);
  return Array.isArray(details) ? details.map(asFields) : [];
}

/** Names in the error, the most specific one first; no prose, no numbers. */
function getLabels(fields: Fields, body: Fields, notes: readonly Fields[]): readonly string[] {
  const inner = asFields(body.error);
  const detail = asFields(body.detail);
  const reasons = notes.map(({ reason }) => reason);
  const own = fields.statusCode === undefined ? [fields.code, fields.status, fields.type] : [];
  return [
    ...reasons,
    ...[inner, body, detail].flatMap(({ code, status, type }) => [code, status, type]),
    ...own,
  ].filter((value): value is string => isLabel(value) && value !== 'error');
}

function isLabel(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z_][\w.\-[\]]{0,79}$/.test(value);
}

function firstLabel(...values: readonly unknown[]): string | undefined {
  return values.find(isLabel);
}

function violatedField(notes: readonly Fields[]): unknown {
  const violations = notes.flatMap(({ fieldViolations: list }) => (Array.isArray(list) ? list : []));
  return asFields(violations[0]).field;
}

/** An item of `{detail: [{loc: ["body", "text"]}]}`. */
function getLocation({ detail }: Fields): unknown {
  const { loc } = asFields(Array.isArray(detail) ? detail[0] : undefined);
  return Array.isArray(loc) ? loc.join('.') : undefined;
}

/** Google's APIs put the delay in the body, e.g. `"retryDelay": "37s"`. */
function retryDelay(notes: readonly Fields[]): number | undefined {
  for (const note of notes) {
    const delay = note.retryDelay;
    const seconds = typeof delay === 'string' ? /^(\d+(?:\.\d+)?)s$/.exec(delay)?.[1] : undefined;
    if (seconds !== undefined) return Math.ceil(Number(seconds) * 1000);
  }
  return undefined;
}

/** The delay of a `Retry-After` header, in milliseconds. A date is relative to the response's own date. */
function retryAfter(headers: Fields): number | undefined {
  const exact = Number(text(headers['retry-after-ms']));
  if (exact >= 0) return exact;
  const value = text(headers['retry-after']);
  if (value === undefined) return undefined;
  const seconds = Number(value);
  if (seconds >= 0) return Math.ceil(seconds * 1000);
  const wait = Date.parse(value) - Date.parse(String(headers.date));
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}

/** Removes known secrets, then everything that resembles one: vendors quote keys, and some put them in URLs. */
function redact(said: string, secrets: readonly string[]): string {
  let clean = said;
  for (const secret of secrets) if (secret !== '') clean = clean.replaceAll(secret, '[key]');
  return clean
    .replace(/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, '$1 [key]')
    .replace(/([?&](?:api[-_]?key|key|token|access_token)=)[^&\s"']+/gi, '$1[key]')
    .replace(/\b(?:(?:sk|rk|pk|gsk|xai|pplx|hf|r8|key)[-_]|AIza|AQ\.)[\w*.-]{12,}/g, '[key]');
}

function cut(said: string): string {
  return said.length > textLimit ? `${said.slice(0, textLimit)}...` : said;
}

function parse(value: unknown): unknown {
  if (typeof value !== 'string') return undefined;
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}

function asFields(value: unknown): Fields {
  return isObject(value) ? value : {};
}
