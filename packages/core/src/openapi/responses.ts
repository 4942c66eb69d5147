import type { Operation, ResponseDescription } from '../operation.ts';
import { errorSchema, STATUS_TEXT } from './errors.ts';
import { headerRefs, KEY_HEADER_NAMES, USER_HEADER_NAMES } from './headers.ts';
import { type JsonSchema, schemaRef } from './schemas.ts';

/** The component of an answer's JSON body. */
export function responseName(operation: Operation, status: number | string): string {
  return `${operation.id}Response${status}`;
}

export function isJson({ schema, contentType = 'application/json' }: ResponseDescription): boolean {
  return schema !== undefined && contentType.startsWith('application/json');
}

/**
 * Everything an operation may answer, by status.
 * @param shared takes the answers that many operations have in common, under their component names.
 */
export function responsesOf(
  operation: Operation,
  shared: Record<string, JsonSchema>,
): Record<string, JsonSchema> {
  const responses: Record<string, JsonSchema> = {};
  for (const [status, output] of Object.entries(operation.output)) {
    responses[status] = successOf(operation, status, output);
  }
  for (const status of refusalStatuses(operation)) {
    if (responses[status] !== undefined) continue;
    const refusal = refusalOf(operation, status);
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

/** Same family, same status, same headers: same answer. */
function sharedName(operation: Operation, status: number): string {
  const family = operation.family === 'completions' ? 'CompletionError' : 'Error';
  const keyed = operation.auth === 'key-or-token' && operation.rate.key !== 'unlimited';
  const limited = operation.auth !== 'none' && operation.rate.user !== 'unlimited';
  const who = keyed ? (limited ? 'KeyOrUser' : 'Key') : limited ? 'User' : '';
  return status === 405 ? `${family}${status}` : `${family}${status}${who}`;
}

function successOf(operation: Operation, status: string, output: ResponseDescription): JsonSchema {
  const { description, schema, contentType = 'application/json', headers = {} } = output;
  const own = Object.entries(headers).map(([name, means]) => [
    name,
    { description: means, schema: { type: 'string' } },
  ]);
  const body = isJson(output) ? schemaRef(responseName(operation, status)) : { type: 'string' };
  return {
    description,
    headers: { ...headerRefs(['X-Request-ID', ...rateHeaders(operation)]), ...Object.fromEntries(own) },
    ...((schema !== undefined || output.contentType !== undefined) && {
      content: {
        [contentType]: { schema: body },
        ...(output.binary !== undefined && {
          [output.binary]: { schema: { type: 'string', format: 'binary' } },
        }),
      },
    }),
    ...(operation.pollResult !== undefined &&
      status === '200' && { 'x-poll-result': { schema: schemaRef(operation.pollResult) } }),
  };
}

function refusalOf(operation: Operation, status: number): JsonSchema {
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

/** 405 comes before the limiter; a 401 after it is the provider's, a 403 after it the handler's. */
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
  const { auth, input, refusals = [] } = operation;
  const own = refusals.map(({ status }) => status);
  const statuses = new Set([...own, 405, 500]);
  if (auth !== 'none') statuses.add(401).add(503);
  if (auth === 'key-or-token') statuses.add(403);
  if (rateHeaders(operation).length > 0) statuses.add(429);
  if (input.params !== undefined) statuses.add(404);
  if (input.body !== undefined) statuses.add(400).add(413);
  if (input.body !== undefined || input.query !== undefined || operation.idempotent) statuses.add(422);
  return [...statuses].sort((a, b) => a - b);
}
