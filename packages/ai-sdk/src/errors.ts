import { isProviderError, ProviderError, type ProviderErrorKind } from '@questline/core';

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

/** What vendors call their errors, where the name says more than the status. */
const byWord: Readonly<Record<string, ProviderErrorKind>> = {
  authentication_error: 'rejected_key',
  permission_error: 'rejected_key',
  invalid_api_key: 'rejected_key',
  insufficient_quota: 'rejected_key',
  billing_error: 'rejected_key',
  rate_limit_error: 'overloaded',
  rate_limit_exceeded: 'overloaded',
  overloaded_error: 'overloaded',
  server_overloaded: 'overloaded',
  resource_exhausted: 'overloaded',
  timeout_error: 'timeout',
  deadline_exceeded: 'timeout',
  context_length_exceeded: 'context_length',
  content_policy_violation: 'content_blocked',
  content_filter: 'content_blocked',
  invalid_prompt: 'content_blocked',
  invalid_request_error: 'invalid_request',
};

/** The SDK's own errors, by name. Those of a request that cannot be made; all others mean that an answer went wrong. */
const byName: Readonly<Record<string, ProviderErrorKind>> = {
  AI_LoadAPIKeyError: 'not_configured',
  AI_LoadSettingError: 'not_configured',
  AI_InvalidArgumentError: 'invalid_request',
  AI_InvalidPromptError: 'invalid_request',
  AI_NoSuchModelError: 'invalid_request',
  AI_UnsupportedFunctionalityError: 'invalid_request',
  AI_TooManyEmbeddingValuesForCallError: 'invalid_request',
  TimeoutError: 'timeout',
};

const timeouts: ReadonlySet<unknown> = new Set([
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

const longContext =
  /context (length|window|size)|maximum (prompt|context|model) length|prompt is too long|too many tokens|input token count|reduce the length of/i;
const textLimit = 500;

/**
 * What a model threw, or sent in its stream, as one of our errors. Only status, words and text are taken: the SDK's
 * errors carry the whole request, which belongs in nobody's log.
 * @param secrets strings that must not appear in the text.
 */
export function providerError(
  error: unknown,
  provider: string,
  secrets: readonly string[] = [],
): ProviderError {
  if (isProviderError(error)) return error;
  const fields = asFields(error);
  const status = typeof fields.statusCode === 'number' ? fields.statusCode : undefined;
  const said = textOf(error, fields);
  const kind = kindOf(fields, status, said);
  const retryAfterMs = kind === 'overloaded' ? retryAfter(asFields(fields.responseHeaders)) : undefined;
  const answered = status === undefined ? '' : `answered ${status}: `;
  return new ProviderError(
    kind,
    `${provider}: ${cut(redact(answered + said, secrets))}`,
    retryAfterMs === undefined ? {} : { retryAfterMs },
  );
}

function kindOf(fields: Fields, status: number | undefined, said: string): ProviderErrorKind {
  for (const word of words(fields)) {
    const kind = byWord[word.toLowerCase()];
    // Too general to be believed when the text says more.
    if (kind === 'invalid_request' && longContext.test(said)) return 'context_length';
    if (kind !== undefined) return kind;
  }
  if (status !== undefined) {
    const kind = byStatus[status] ?? 'failed';
    return kind === 'invalid_request' && longContext.test(said) ? 'context_length' : kind;
  }
  for (let cause: unknown = fields, depth = 0; isObject(cause) && depth < 4; cause = cause.cause, depth++) {
    const kind = byName[String(cause.name)];
    if (kind !== undefined) return kind;
    if (timeouts.has(cause.code)) return 'timeout';
  }
  return longContext.test(said) ? 'context_length' : 'failed';
}

function textOf(error: unknown, fields: Fields): string {
  if (typeof error === 'string') return error;
  const said = text(fields.message) ?? text(asFields(fields.error).message);
  if (said !== undefined) return said;
  try {
    return JSON.stringify(error) ?? 'unknown';
  } catch {
    return 'unknown';
  }
}

/** `type`, `code` and `status` of the error, of the body it came with, and of the error within either. */
function words(fields: Fields): string[] {
  const body = asFields(fields.data ?? parse(fields.responseBody));
  return [fields, asFields(fields.error), asFields(body.error), body].flatMap(({ code, type, status }) =>
    [code, type, status].filter((word) => typeof word === 'string'),
  );
}

/** The wait a `Retry-After` asks for, in milliseconds. A date counts from the answer's own date. */
function retryAfter(headers: Fields): number | undefined {
  const exact = Number(text(headers['retry-after-ms']) ?? Number.NaN);
  if (exact >= 0) return exact;
  const value = text(headers['retry-after']);
  if (value === undefined) return undefined;
  const seconds = Number(value);
  if (seconds >= 0) return Math.ceil(seconds * 1000);
  const wait = Date.parse(value) - Date.parse(String(headers.date));
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}

/** Takes out the secrets we know, then what looks like one: vendors like to repeat keys, and some put them in URLs. */
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
