import type { ProviderErrorKind } from '@questline/core/ports';

/** The vendor whose protocol and error format an answer has. */
export type Vendor = 'openai' | 'compatible' | 'anthropic' | 'gemini' | 'xai';

/** An error answer in the vendor's documented format, and its class. */
export interface ErrorRow {
  readonly vendor: Vendor;
  readonly name: string;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON unless it is text. */
  readonly body: unknown;
  readonly kind: ProviderErrorKind;
  readonly code?: string;
  readonly param?: string;
  readonly retryAfterMs?: number;
}

type Rest = Partial<Pick<ErrorRow, 'headers' | 'code' | 'param' | 'retryAfterMs'>>;

/** https://platform.openai.com/docs/guides/error-codes: the format documented there, written from knowledge of it. */
const openai = (
  status: number,
  kind: ProviderErrorKind,
  error: { message: string; type?: string | null; code?: string | number | null; param?: string | null },
  rest: Rest = {},
  vendor: Vendor = 'openai',
): ErrorRow => ({
  vendor,
  name: `${status} ${error.code ?? error.type}: ${error.message}`,
  status,
  kind,
  body: { error },
  ...rest,
});

const compatible = (
  status: number,
  kind: ProviderErrorKind,
  error: { message: string; type?: string | null; code?: string | number | null; param?: string | null },
  rest: Rest = {},
): ErrorRow => openai(status, kind, error, rest, 'compatible');

const plain = (
  vendor: Vendor,
  status: number,
  kind: ProviderErrorKind,
  body: unknown,
  rest: Rest = {},
): ErrorRow => ({
  vendor,
  name: `${status} ${typeof body === 'string' ? body : JSON.stringify(body)}`,
  status,
  kind,
  body,
  ...rest,
});

/** https://docs.claude.com/en/api/errors: the format documented there, written from knowledge of it. */
const anthropic = (
  status: number,
  kind: ProviderErrorKind,
  type: string,
  message: string,
  rest: Rest = {},
): ErrorRow => ({
  vendor: 'anthropic',
  name: `${status} ${type}: ${message}`,
  status,
  kind,
  code: type,
  body: { type: 'error', error: { type, message }, request_id: 'req_1' },
  ...rest,
});

/** https://ai.google.dev/gemini-api/docs/troubleshooting: the format documented there, written from knowledge of it. */
const gemini = (
  code: number,
  kind: ProviderErrorKind,
  status: string,
  message: string,
  details: readonly object[] = [],
  rest: Rest = {},
): ErrorRow => ({
  vendor: 'gemini',
  name: `${code} ${status}: ${message}`,
  status: code,
  kind,
  code: status,
  body: { error: { code, message, status, ...(details.length > 0 && { details }) } },
  ...rest,
});

/** https://docs.x.ai/docs/key-information/debugging: the format documented there, written from knowledge of it. */
const xai = (
  status: number,
  kind: ProviderErrorKind,
  code: string,
  error: string,
  rest: Rest = {},
): ErrorRow => ({
  vendor: 'xai',
  name: `${status} ${code}: ${error}`,
  status,
  kind,
  body: { code, error },
  ...rest,
});

const invalid = 'invalid_request_error';
const INFO = 'type.googleapis.com/google.rpc.ErrorInfo';
const RETRY = 'type.googleapis.com/google.rpc.RetryInfo';
const BAD = 'type.googleapis.com/google.rpc.BadRequest';

export const ERRORS: readonly ErrorRow[] = [
  openai(
    400,
    'invalid_request',
    {
      message: "Unsupported parameter: 'max_tokens'.",
      type: invalid,
      code: 'unsupported_parameter',
      param: 'max_tokens',
    },
    { code: 'unsupported_parameter', param: 'max_tokens' },
  ),
  openai(
    400,
    'invalid_request',
    {
      message: "Unsupported value: 'none'.",
      type: invalid,
      code: 'unsupported_value',
      param: 'reasoning_effort',
    },
    { code: 'unsupported_value', param: 'reasoning_effort' },
  ),
  openai(
    400,
    'invalid_request',
    {
      message: 'Invalid value in messages.',
      type: invalid,
      code: 'invalid_value',
      param: 'messages[3].content[0].type',
    },
    { code: 'invalid_value', param: 'messages[3].content[0].type' },
  ),
  openai(
    400,
    'invalid_request',
    { message: 'The body could not be parsed.', type: invalid, code: null, param: null },
    { code: invalid },
  ),
  openai(
    400,
    'context_length',
    {
      message: "This model's maximum context length is 128000 tokens.",
      type: invalid,
      code: 'context_length_exceeded',
      param: 'messages',
    },
    { code: 'context_length_exceeded', param: 'messages' },
  ),
  openai(
    400,
    'context_length',
    { message: 'The string is too long.', type: invalid, code: 'string_above_max_length', param: 'input' },
    { code: 'string_above_max_length', param: 'input' },
  ),
  openai(
    400,
    'content_blocked',
    { message: 'The request was refused.', type: invalid, code: 'content_policy_violation' },
    { code: 'content_policy_violation' },
  ),
  openai(
    400,
    'content_blocked',
    { message: 'The filter was triggered.', type: null, code: 'content_filter', param: 'prompt' },
    { code: 'content_filter', param: 'prompt' },
  ),
  openai(
    400,
    'content_blocked',
    { message: 'Refused.', type: invalid, code: 'invalid_prompt' },
    { code: 'invalid_prompt' },
  ),
  openai(
    400,
    'content_blocked',
    { message: 'Refused.', type: 'image_generation_user_error', code: 'moderation_blocked' },
    { code: 'moderation_blocked' },
  ),
  openai(
    400,
    'rejected_key',
    { message: 'The billing limit is reached.', type: invalid, code: 'billing_hard_limit_reached' },
    { code: 'billing_hard_limit_reached' },
  ),
  openai(
    401,
    'rejected_key',
    { message: 'Incorrect API key provided.', type: invalid, code: 'invalid_api_key' },
    { code: 'invalid_api_key' },
  ),
  openai(
    401,
    'rejected_key',
    { message: 'You must be a member of an organization.', type: invalid, code: null },
    { code: invalid },
  ),
  openai(
    401,
    'rejected_key',
    { message: 'No access.', type: 'authentication_error', code: null },
    { code: 'authentication_error' },
  ),
  openai(
    403,
    'rejected_key',
    {
      message: 'Your country is not supported.',
      type: 'request_forbidden',
      code: 'unsupported_country_region_territory',
    },
    { code: 'unsupported_country_region_territory' },
  ),
  openai(
    403,
    'rejected_key',
    { message: 'The project has no access to the model.', type: invalid, code: 'model_not_allowed' },
    { code: 'model_not_allowed' },
  ),
  openai(
    404,
    'invalid_request',
    {
      message: 'The model does not exist or you have no access.',
      type: invalid,
      code: 'model_not_found',
      param: null,
    },
    { code: 'model_not_found' },
  ),
  openai(
    404,
    'invalid_request',
    { message: 'The model has been shut down.', type: invalid, code: 'model_shutdown' },
    { code: 'model_shutdown' },
  ),
  openai(404, 'invalid_request', { message: 'Invalid URL.', type: invalid, code: null }, { code: invalid }),
  openai(
    408,
    'timeout',
    { message: 'The request took too long.', type: 'timeout', code: null },
    { code: 'timeout' },
  ),
  openai(
    409,
    'failed',
    { message: 'Conflict.', type: 'conflict_error', code: null },
    { code: 'conflict_error' },
  ),
  openai(
    413,
    'invalid_request',
    { message: 'The body exceeds the maximum size.', type: invalid, code: null },
    { code: invalid },
  ),
  openai(422, 'invalid_request', { message: 'Unprocessable.', type: invalid, code: null }, { code: invalid }),
  openai(
    429,
    'overloaded',
    { message: 'Rate limit reached for requests.', type: 'requests', code: 'rate_limit_exceeded' },
    { headers: { 'retry-after': '7' }, code: 'rate_limit_exceeded', retryAfterMs: 7000 },
  ),
  openai(
    429,
    'overloaded',
    { message: 'Rate limit reached for tokens.', type: 'tokens', code: 'rate_limit_exceeded' },
    {
      headers: { 'retry-after-ms': '250', 'retry-after': '1' },
      code: 'rate_limit_exceeded',
      retryAfterMs: 250,
    },
  ),
  openai(
    429,
    'rejected_key',
    { message: 'You exceeded your current quota.', type: 'insufficient_quota', code: 'insufficient_quota' },
    { code: 'insufficient_quota' },
  ),
  openai(
    429,
    'overloaded',
    { message: 'Slow down.', type: 'requests', code: 'slow_down' },
    { code: 'slow_down' },
  ),
  openai(
    500,
    'failed',
    { message: 'The server had an error.', type: 'server_error', code: null },
    { code: 'server_error' },
  ),
  openai(
    503,
    'overloaded',
    { message: 'The engine is overloaded.', type: 'server_overloaded', code: null },
    { headers: { 'retry-after': '3' }, code: 'server_overloaded', retryAfterMs: 3000 },
  ),
  plain('openai', 502, 'failed', '<html>Bad gateway</html>', { headers: { 'content-type': 'text/html' } }),
  plain('openai', 504, 'timeout', '<html>Gateway timeout</html>', {
    headers: { 'content-type': 'text/html' },
  }),
  plain('openai', 429, 'overloaded', 'slow down', {
    headers: { 'retry-after': 'Sun, 22 Nov 2026 08:00:30 GMT', date: 'Sun, 22 Nov 2026 08:00:00 GMT' },
    retryAfterMs: 30_000,
  }),
  // Other services that speak the same protocol.
  compatible(
    401,
    'rejected_key',
    {
      message: 'Authentication Fails (no such user)',
      type: 'authentication_error',
      code: 'invalid_request_error',
    },
    { code: invalid },
  ),
  compatible(
    402,
    'rejected_key',
    { message: 'Insufficient Balance', type: 'unknown_error', code: 'invalid_request_error' },
    { code: invalid },
  ),
  compatible(402, 'rejected_key', { message: 'Insufficient credits.', code: 402 }),
  compatible(
    400,
    'context_length',
    {
      message: 'Please reduce the length of the messages or completion.',
      type: invalid,
      code: null,
      param: 'messages',
    },
    { code: invalid, param: 'messages' },
  ),
  compatible(
    413,
    'overloaded',
    {
      message: 'Request too large for the model on tokens per minute.',
      type: 'tokens',
      code: 'rate_limit_exceeded',
    },
    { code: 'rate_limit_exceeded' },
  ),
  compatible(
    400,
    'context_length',
    { message: 'The prompt has 130000 tokens.', type: 'too_many_prompt_tokens', code: 400 },
    { code: 'too_many_prompt_tokens' },
  ),
  compatible(
    400,
    'invalid_request',
    { message: 'Invalid model.', type: 'invalid_model', code: 400 },
    { code: 'invalid_model' },
  ),
  compatible(
    404,
    'invalid_request',
    { message: 'The model is not there.', type: invalid, code: 'model_not_found' },
    { code: 'model_not_found' },
  ),
  compatible(
    404,
    'invalid_request',
    { message: 'model "x" not found, try pulling it first', type: 'api_error', code: null },
    { code: 'api_error' },
  ),
  compatible(
    429,
    'overloaded',
    { message: 'Too many requests.', code: 429 },
    { headers: { 'retry-after': '2' }, retryAfterMs: 2000 },
  ),
  compatible(
    503,
    'overloaded',
    { message: 'The model is loading.', type: 'unavailable_error', code: 503 },
    { code: 'unavailable_error' },
  ),
  compatible(
    529,
    'overloaded',
    { message: 'Overloaded.', type: 'overloaded_error' },
    { code: 'overloaded_error' },
  ),
  compatible(
    403,
    'rejected_key',
    { message: 'The key lacks permission.', type: invalid, code: null },
    { code: invalid },
  ),
  plain(
    'compatible',
    400,
    'invalid_request',
    { object: 'error', message: 'Unknown field.', type: 'BadRequestError', param: null, code: 400 },
    { code: 'BadRequestError' },
  ),
  plain(
    'compatible',
    400,
    'context_length',
    {
      object: 'error',
      message: "This model's maximum context length is 4096 tokens.",
      type: 'BadRequestError',
      code: 400,
    },
    { code: 'BadRequestError' },
  ),
  plain('compatible', 401, 'rejected_key', { detail: 'Unauthorized' }),
  plain('compatible', 404, 'invalid_request', { detail: 'Not Found' }),
  plain('compatible', 429, 'overloaded', { message: 'Requests rate limit exceeded' }),
  plain('compatible', 500, 'failed', {}),
  anthropic(400, 'invalid_request', invalid, 'max_tokens: Field required'),
  anthropic(400, 'invalid_request', invalid, 'Requests which include `tool_use` blocks must define tools.'),
  anthropic(400, 'context_length', invalid, 'prompt is too long: 210000 tokens > 200000 maximum'),
  anthropic(
    400,
    'context_length',
    invalid,
    'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000',
  ),
  anthropic(400, 'rejected_key', invalid, 'Your credit balance is too low to access the Anthropic API.'),
  anthropic(400, 'content_blocked', invalid, 'Output blocked by content filtering policy'),
  anthropic(400, 'content_blocked', invalid, 'The request violates our usage policy.'),
  anthropic(401, 'rejected_key', 'authentication_error', 'invalid x-api-key'),
  anthropic(402, 'rejected_key', 'billing_error', 'There is a problem with your billing.'),
  anthropic(403, 'rejected_key', 'permission_error', 'Your API key does not have permission.'),
  anthropic(404, 'invalid_request', 'not_found_error', 'model: claude-nope'),
  anthropic(413, 'invalid_request', 'request_too_large', 'Request exceeds the maximum size'),
  anthropic(429, 'overloaded', 'rate_limit_error', 'This would exceed your rate limit.', {
    headers: { 'retry-after': '12' },
    retryAfterMs: 12_000,
  }),
  anthropic(500, 'failed', 'api_error', 'Internal server error'),
  anthropic(504, 'timeout', 'timeout_error', 'The request timed out.'),
  anthropic(529, 'overloaded', 'overloaded_error', 'Overloaded'),
  anthropic(529, 'overloaded', 'overloaded_error', 'Overloaded, come back', {
    headers: { 'retry-after': '5' },
    retryAfterMs: 5000,
  }),
  plain('anthropic', 502, 'failed', '<html>Bad gateway</html>', { headers: { 'content-type': 'text/html' } }),
  plain(
    'anthropic',
    403,
    'rejected_key',
    { error: { type: 'forbidden', message: 'Request not allowed' } },
    { code: 'forbidden' },
  ),
  gemini(
    400,
    'rejected_key',
    'INVALID_ARGUMENT',
    'API key not valid. Please pass a valid API key.',
    [{ '@type': INFO, reason: 'API_KEY_INVALID', domain: 'googleapis.com' }],
    { code: 'API_KEY_INVALID' },
  ),
  gemini(
    400,
    'invalid_request',
    'INVALID_ARGUMENT',
    'Invalid value at generation_config.',
    [{ '@type': BAD, fieldViolations: [{ field: 'generation_config.top_k', description: 'no' }] }],
    { param: 'generation_config.top_k' },
  ),
  gemini(
    400,
    'invalid_request',
    'INVALID_ARGUMENT',
    'Please ensure that function call turn comes after a user turn.',
  ),
  gemini(
    400,
    'context_length',
    'INVALID_ARGUMENT',
    'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
  ),
  gemini(400, 'content_blocked', 'INVALID_ARGUMENT', 'The prompt violates our usage guidelines.'),
  gemini(400, 'failed', 'FAILED_PRECONDITION', 'User location is not supported for the API use.'),
  gemini(401, 'rejected_key', 'UNAUTHENTICATED', 'Request had invalid authentication credentials.'),
  gemini(403, 'rejected_key', 'PERMISSION_DENIED', 'Method does not allow unregistered callers.'),
  gemini(
    403,
    'rejected_key',
    'PERMISSION_DENIED',
    'The API has not been used in the project.',
    [{ '@type': INFO, reason: 'SERVICE_DISABLED' }],
    { code: 'SERVICE_DISABLED' },
  ),
  gemini(404, 'invalid_request', 'NOT_FOUND', 'models/gemini-9 is not found.'),
  gemini(
    429,
    'overloaded',
    'RESOURCE_EXHAUSTED',
    'You exceeded your rate limit.',
    [{ '@type': RETRY, retryDelay: '34s' }],
    { retryAfterMs: 34_000 },
  ),
  gemini(429, 'overloaded', 'RESOURCE_EXHAUSTED', 'Rate limit.', [{ '@type': RETRY, retryDelay: '48.5s' }], {
    retryAfterMs: 48_500,
  }),
  gemini(429, 'overloaded', 'RESOURCE_EXHAUSTED', 'Resource has been exhausted.'),
  gemini(499, 'failed', 'CANCELLED', 'The operation was cancelled.'),
  gemini(500, 'failed', 'INTERNAL', 'An internal error has occurred.'),
  gemini(503, 'overloaded', 'UNAVAILABLE', 'The model is overloaded. Please try again later.'),
  gemini(504, 'timeout', 'DEADLINE_EXCEEDED', 'The deadline was exceeded.'),
  plain(
    'gemini',
    400,
    'rejected_key',
    [
      {
        error: {
          code: 400,
          message: 'API key not valid.',
          status: 'INVALID_ARGUMENT',
          details: [{ reason: 'API_KEY_INVALID' }],
        },
      },
    ],
    { code: 'API_KEY_INVALID' },
  ),
  plain('gemini', 404, 'invalid_request', '<html>404</html>', { headers: { 'content-type': 'text/html' } }),
  xai(400, 'rejected_key', 'Client specified an invalid argument', 'Incorrect API key provided: xa***st.'),
  xai(
    400,
    'invalid_request',
    'Client specified an invalid argument',
    'Argument not supported on this model: presencePenalty',
  ),
  xai(
    400,
    'context_length',
    'Client specified an invalid argument',
    "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
  ),
  xai(401, 'rejected_key', 'Unauthenticated', 'No credentials were provided.', { code: 'Unauthenticated' }),
  xai(
    403,
    'rejected_key',
    'The caller does not have permission to execute the specified operation',
    'Your team has no access.',
  ),
  xai(
    403,
    'content_blocked',
    'The caller does not have permission to execute the specified operation',
    'Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO',
  ),
  xai(
    404,
    'invalid_request',
    'Some requested entity was not found',
    'The model grok-nope does not exist or your team has no access to it.',
  ),
  xai(413, 'invalid_request', 'payload_too_large', 'Failed to buffer the body: length limit exceeded', {
    code: 'payload_too_large',
  }),
  xai(422, 'invalid_request', 'unprocessable', 'Failed to deserialize the body.', { code: 'unprocessable' }),
  xai(429, 'overloaded', 'Some resource has been exhausted', 'Too many requests for the team.', {
    headers: { 'retry-after': '4' },
    retryAfterMs: 4000,
  }),
  xai(
    429,
    'rejected_key',
    'Some resource has been exhausted',
    'Your team has either used all available credits or reached its monthly spending limit.',
  ),
  xai(500, 'failed', 'internal', 'Internal error.', { code: 'internal' }),
  xai(503, 'overloaded', 'The service is currently unavailable', 'The model is at capacity.'),
];
