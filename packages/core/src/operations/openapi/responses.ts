import type { ErrorFamily, Operation, ResponseDescription } from '../../contract/operation.ts';
import { errorSchema, STATUS_TEXT } from './errors.ts';
import type { OperationExamples } from './examples.ts';
import { headerRefs, KEY_HEADER_NAMES, USER_HEADER_NAMES } from './headers.ts';
import { toMediaType } from './media.ts';
import { type JsonSchema, schemaRef } from './schemas.ts';

/** Returns the component name of a JSON response body. */
export function responseName(operation: Operation, status: number | string): string {
  return `${operation.id}Response${status}`;
}

/** Whether the body has a schema of its own: JSON, or a stream of events that are JSON each. */
export function hasSchema({ schema, contentType = 'application/json' }: ResponseDescription): boolean {
  return schema !== undefined && /^(?:application\/json|text\/event-stream)/.test(contentType);
}

/**
 * Returns all responses of an operation, by status. @param shared collects responses that operations have in common,
 * by component name.
 */
export function toResponses(
  operation: Operation,
  shared: Record<string, JsonSchema>,
  examples: OperationExamples | undefined,
): Record<string, JsonSchema> {
  const responses: Record<string, JsonSchema> = {};
  for (const [status, output] of Object.entries(operation.output)) {
    const recorded = examples?.response.status === Number(status) ? examples.response.body : undefined;
    responses[status] = toSuccess(operation, status, output, recorded);
  }
  for (const status of refusalStatuses(operation)) {
    if (responses[status] !== undefined) continue;
    const refusal = toErrorResponse(operation, status);
    if (operation.refusals?.some((own) => own.status === status)) {
      responses[status] = refusal;
    } else {
      const name = sharedName(operation, status);
      shared[name] = refusal;
      responses[status] = { $ref: `#/components/responses/${name}` };
    }
  }
  return responses;
}

const FAMILY_PREFIX: Readonly<Record<ErrorFamily, string>> = {
  public: 'Error',
  completions: 'CompletionError',
  application: 'ApplicationError',
  oauth: 'OAuthError',
};

/** Family, status and headers identify a shared response. */
function sharedName(operation: Operation, status: number): string {
  const family = FAMILY_PREFIX[operation.family];
  const keyed = operation.auth === 'key-or-token' && operation.rate.key !== 'unlimited';
  const limited = operation.auth !== 'none' && operation.rate.user !== 'unlimited';
  const who = keyed ? (limited ? 'KeyOrUser' : 'Key') : limited ? 'User' : '';
  return status === 405 ? `${family}${status}` : `${family}${status}${who}`;
}

function toSuccess(
  operation: Operation,
  status: string,
  output: ResponseDescription,
  example: unknown,
): JsonSchema {
  const { description, schema, contentType = 'application/json', headers = {} } = output;
  const own = Object.entries(headers).map(([name, means]) => [
    name,
    { description: means, schema: { type: 'string' } },
  ]);
  const body = hasSchema(output) ? schemaRef(responseName(operation, status)) : toPlainBody(contentType);
  return {
    description,
    headers: { ...headerRefs(['X-Request-ID', ...rateHeaders(operation)]), ...Object.fromEntries(own) },
    ...((schema !== undefined || output.contentType !== undefined) && {
      content: {
        [contentType]: toMediaType(contentType, body, example),
        ...(output.binary !== undefined && {
          [output.binary]: { schema: { type: 'string', format: 'binary' } },
        }),
      },
    }),
    ...(operation.pollResult !== undefined &&
      status === '200' && { 'x-poll-result': { schema: schemaRef(operation.pollResult) } }),
  };
}

/** Bytes, or text that is no JSON. */
function toPlainBody(contentType: string): JsonSchema {
  return contentType.startsWith('text/') ? { type: 'string' } : { type: 'string', format: 'binary' };
}

function toErrorResponse(operation: Operation, status: number): JsonSchema {
  const own = operation.refusals?.find((refusal) => refusal.status === status);
  const schema =
    own?.schema === undefined
      ? errorSchema(operation.family, status)
      : schemaRef(responseName(operation, status));
  return {
    description: own?.description ?? STATUS_TEXT[status] ?? 'Refused.',
    headers: headerRefs(['X-Request-ID', ...refusalHeaders(operation, status)]),
    content: { 'application/json': { schema } },
  };
}

/** 405 is sent before the rate limiter; a later 401 comes from the provider, a later 403 from the handler. */
function refusalHeaders(operation: Operation, status: number): string[] {
  switch (status) {
    case 405:
      return ['Allow'];
    case 401:
      return ['WWW-Authenticate', ...rateHeaders(operation)];
    case 429:
    case 503:
      return ['Retry-After', ...rateHeaders(operation)];
    default:
      return rateHeaders(operation);
  }
}

function rateHeaders({ auth, rate }: Operation): string[] {
  return [
    ...(auth === 'key-or-token' && rate.key !== 'unlimited' ? KEY_HEADER_NAMES : []),
    ...(auth !== 'none' && rate.user !== 'unlimited' ? USER_HEADER_NAMES : []),
  ];
}

function refusalStatuses(operation: Operation): number[] {
  const { auth, input, method, refusals = [] } = operation;
  const own = refusals.map(({ status }) => status);
  const statuses = new Set([...own, 405, 500, 503]);
  if (auth !== 'none') statuses.add(401);
  if (auth === 'key-or-token') statuses.add(403);
  if (rateHeaders(operation).length > 0) statuses.add(429);
  if (input.params !== undefined) statuses.add(404);
  if (input.body !== undefined) statuses.add(400).add(413);
  // The application side rejects bodies that it does not read.
  if (operation.family === 'application') {
    statuses.add(400);
    if (method !== 'GET' && method !== 'DELETE') statuses.add(413).add(422);
  }
  if (input.body !== undefined || input.query !== undefined || operation.idempotent) statuses.add(422);
  return [...statuses].sort((a, b) => a - b);
}
