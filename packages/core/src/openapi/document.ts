import type * as z from 'zod';
import { NAME_SUNSET } from '../http/families.ts';
import type { Operation } from '../operation.ts';
import { DESCRIPTION_VERSION } from './contract.ts';
import { errorComponents } from './errors.ts';
import { HEADERS } from './headers.ts';
import { isJson, responseName, responsesOf } from './responses.ts';
import { type JsonSchema, schemaRef, toComponents, toParameters } from './schemas.ts';
import { TAGS } from './tags.ts';

/** An OpenAPI 3.1 document, but for its `servers`: those depend on who asks. */
export interface Description {
  readonly openapi: '3.1.0';
  readonly info: JsonSchema;
  readonly tags: readonly JsonSchema[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: Readonly<Record<string, JsonSchema>>;
}

/** One operation as it is described. */
export interface DescribedOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly JsonSchema[];
  readonly responses: Readonly<Record<string, JsonSchema>>;
  readonly [key: string]: unknown;
}

/**
 * Describes operations. One without a tag, or of the application family, is left out.
 * @param now epoch milliseconds: what has left the answers by then has left the description too.
 */
export function describeOperations(operations: readonly Operation[], now: number): Description {
  const described = operations.filter(({ tag, family }) => tag !== undefined && family !== 'application');
  const paths: Record<string, Record<string, DescribedOperation>> = {};
  const responses: Record<string, JsonSchema> = {};
  for (const operation of described) {
    const place = paths[operation.path] ?? {};
    place[operation.method.toLowerCase()] = describe(operation, responses);
    paths[operation.path] = place;
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Questline API',
      version: DESCRIPTION_VERSION,
      description: INTRODUCTION,
    },
    tags: tagsOf(described),
    paths,
    components: {
      schemas: { ...errorComponents(now < NAME_SUNSET), ...toComponents(schemasOf(described)) },
      responses,
      headers: HEADERS,
      parameters: PARAMETERS,
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

/** The known tags in their order, then those of the host's own operations. */
function tagsOf(operations: readonly Operation[]): readonly JsonSchema[] {
  const used = new Set(operations.flatMap(({ tag = [] }) => tag));
  const known = TAGS.filter(({ name }) => used.delete(name));
  return [...known, ...[...used].map((name) => ({ name }))];
}

const INTRODUCTION =
  'A multi-model AI workspace: chat, completions, agents, files, images, audio, video and music, with API keys, scopes, ' +
  'rate ceilings and credits. Branch on the status and `errorCode`, never on messages. Every answer carries ' +
  '`X-Request-ID`. Keys need one of `x-required-scopes`, and every one of `x-also-required-scopes`.';

const SECURITY_SCHEMES: JsonSchema = {
  bearerAuth: {
    type: 'http',
    scheme: 'bearer',
    description:
      'An API key: `Authorization: Bearer svc_live_...`. `Authorization: ApiKey svc_live_...` means the same.',
  },
  apiKeyAuth: {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
    description: 'The older form; equivalent to `bearerAuth`.',
  },
  jwtAuth: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'The access token of a signed-in user. It has no scopes and passes every gate.',
  },
};

const PARAMETERS: JsonSchema = {
  RequestId: {
    name: 'X-Request-ID',
    in: 'header',
    description:
      'A correlation id of your own; letters, digits, `.`, `_` and `-` are kept, up to 128 of them.',
    schema: { type: 'string' },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'The same key and body within 24 hours get the original job again, charged once.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]+$' },
  },
};

function describe(operation: Operation, shared: Record<string, JsonSchema>): DescribedOperation {
  const { id, tag, summary, description, auth, scopes, alsoScopes = [], deprecated } = operation;
  const keyed = auth === 'key-or-token';
  return {
    operationId: id,
    tags: tag === undefined ? [] : [tag],
    summary,
    ...(description !== undefined && { description }),
    ...(deprecated !== undefined && { deprecated: true, 'x-sunset': deprecated.sunset }),
    security: securityOf(operation),
    ...(keyed && scopes.length > 0 && { 'x-required-scopes': scopes }),
    ...(keyed && alsoScopes.length > 0 && { 'x-also-required-scopes': alsoScopes }),
    parameters: parametersOf(operation),
    ...(operation.input.body !== undefined && {
      requestBody: requestBodyOf(operation, operation.input.body),
    }),
    responses: responsesOf(operation, shared),
  };
}

function securityOf({ auth }: Operation): readonly JsonSchema[] {
  switch (auth) {
    case 'key-or-token':
      return [{ bearerAuth: [] }, { apiKeyAuth: [] }, { jwtAuth: [] }];
    case 'token':
      return [{ jwtAuth: [] }];
    case 'none':
      return [];
  }
}

function parametersOf({ input, idempotent }: Operation): readonly JsonSchema[] {
  const path = input.params === undefined ? [] : toParameters(input.params);
  const query = input.query === undefined ? [] : toParameters(input.query);
  return [
    ...path.map((parameter) => ({ ...parameter, in: 'path', required: true })),
    ...query.map((parameter) => ({ ...parameter, in: 'query' })),
    ...(idempotent === true ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
    { $ref: '#/components/parameters/RequestId' },
  ];
}

function requestName(operation: Operation): string {
  return `${operation.id}Request`;
}

function requestBodyOf(operation: Operation, body: z.ZodType): JsonSchema {
  const type = operation.bodyType === 'multipart' ? 'multipart/form-data' : 'application/json';
  return {
    // An empty body means `{}`.
    required: !body.safeParse({}).success,
    content: { [type]: { schema: schemaRef(requestName(operation)) } },
  };
}

function schemasOf(operations: readonly Operation[]): Map<string, z.ZodType> {
  const schemas = new Map<string, z.ZodType>();
  for (const operation of operations) {
    if (operation.input.body !== undefined) schemas.set(requestName(operation), operation.input.body);
    for (const [status, output] of Object.entries(operation.output)) {
      if (output.schema !== undefined && isJson(output))
        schemas.set(responseName(operation, status), output.schema);
    }
    for (const { status, schema } of operation.refusals ?? []) {
      if (schema !== undefined) schemas.set(responseName(operation, status), schema);
    }
  }
  return schemas;
}
