import type { RouteConfig } from '@asteasolutions/zod-to-openapi';
import type * as z from 'zod';
import type { Operation } from '../../contract/operation.ts';
import { DESCRIPTION_VERSION } from './contract.ts';
import { errorComponents } from './errors.ts';
import type { OperationExamples } from './examples.ts';
import { HEADERS, PARAMETERS } from './headers.ts';
import { toMediaType } from './media.ts';
import { hasSchema, responseName, toResponses } from './responses.ts';
import { isRecursive, type JsonSchema, schemaRef, toRecursiveComponent, withKeywords } from './schemas.ts';
import { toSecurity, toSecuritySchemes } from './security.ts';
import { INTRODUCTIONS, TAGS, TITLES } from './tags.ts';

/** An OpenAPI 3.1 document without `servers`, which depend on the request. */
export interface Description {
  readonly openapi: '3.1.0';
  readonly info: JsonSchema;
  readonly tags: readonly JsonSchema[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: Readonly<Record<string, JsonSchema>>;
}

/** One described operation. */
export interface DescribedOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly JsonSchema[];
  readonly responses: Readonly<Record<string, JsonSchema>>;
  readonly [key: string]: unknown;
}

/** The two documents: `public` for API keys, `application` for what only a signed-in application uses. */
export type Side = (typeof SIDES)[number];

export const SIDES = ['public', 'application'] as const;

export interface DescriptionOptions {
  /** Epoch milliseconds. Fields past their sunset are omitted. */
  readonly now: number;
  /** Default `public`. */
  readonly side?: Side;
  /** Requests and answers by `operationId`. */
  readonly examples?: Readonly<Record<string, OperationExamples>>;
}

/** The document that describes an operation; undefined for operations without a tag. */
function getSide({ tag, family, side }: Operation): Side | undefined {
  if (tag === undefined) return undefined;
  return side ?? (family === 'application' || family === 'oauth' ? 'application' : 'public');
}

/** Describes the operations of one side as an OpenAPI document. Operations without a tag are omitted. */
export async function describeOperations(
  operations: readonly Operation[],
  { now, side = 'public', examples = {} }: DescriptionOptions,
): Promise<Description> {
  const { OpenAPIRegistry, OpenApiGeneratorV31, zodToOpenAPIRegistry } = await import(
    '@asteasolutions/zod-to-openapi'
  );
  const described = operations.filter((operation) => getSide(operation) === side);
  const registry = new OpenAPIRegistry();
  const { named, aliases } = nameSchemas(described);
  const components = [...named.keys()].map((schema) => ({ type: 'schema' as const, schema }));
  for (const [name, schema] of Object.entries({ ...errorComponents(side), ...aliases }))
    registry.registerComponent('schemas', name, schema);
  const responses: Record<string, JsonSchema> = {};
  for (const operation of described)
    registry.registerPath(toRoute(operation, responses, examples[operation.id]));
  for (const [name, response] of Object.entries(responses))
    registry.registerComponent('responses', name, response as never);
  for (const [name, header] of Object.entries(HEADERS)) registry.registerComponent('headers', name, header);
  const { IdempotencyKey: _idempotencyKey, ...everywhere } = PARAMETERS;
  const parameters = described.some(({ idempotent }) => idempotent === true) ? PARAMETERS : everywhere;
  for (const [name, parameter] of Object.entries(parameters))
    registry.registerComponent('parameters', name, parameter as never);
  const schemes = toSecuritySchemes(described.map(({ auth }) => auth));
  for (const [name, scheme] of Object.entries(schemes))
    registry.registerComponent('securitySchemes', name, scheme as never);

  const inputs = described.flatMap(({ input: { params, query } }) => [params, query]);
  const schemas = [...named.keys(), ...inputs.filter((schema) => schema !== undefined)];
  const { webhooks: _, ...document } = withKeywords(zodToOpenAPIRegistry, named, schemas, () =>
    new OpenApiGeneratorV31([...components, ...registry.definitions]).generateDocument({
      openapi: '3.1.0',
      info: {
        title: TITLES[side],
        version: DESCRIPTION_VERSION,
        description: INTRODUCTIONS[side],
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      tags: toTags(described) as never,
    }),
  );
  const description = document as unknown as Description;
  return {
    ...description,
    components: { ...description.components, schemas: withoutEnded(description, now) },
  };
}

/** Removes properties whose sunset has come, as the answers do. */
function withoutEnded({ components }: Description, now: number): JsonSchema {
  const isOver = (property: JsonSchema): boolean => Date.parse(String(property['x-sunset'])) <= now;
  const schemas = Object.entries(components.schemas ?? {}).map(([name, schema]) => {
    const { properties } = schema as { properties?: Record<string, JsonSchema> };
    if (properties === undefined) return [name, schema];
    const kept = Object.entries(properties).filter(([, property]) => !isOver(property));
    return [name, { ...(schema as JsonSchema), properties: Object.fromEntries(kept) }];
  });
  return Object.fromEntries(schemas);
}

/** Returns the known tags in their order, then the tags of the host's operations. */
function toTags(operations: readonly Operation[]): readonly JsonSchema[] {
  const used = new Set(operations.flatMap(({ tag = [] }) => tag));
  const known = TAGS.filter(({ name }) => used.delete(name));
  return [...known, ...[...used].map((name) => ({ name }))];
}

function toRoute(
  operation: Operation,
  shared: Record<string, JsonSchema>,
  examples: OperationExamples | undefined,
): RouteConfig {
  const { id, tag, summary, description, auth, scopes, alsoScopes = [], deprecated, input } = operation;
  const keyed = auth === 'key-or-token';
  return {
    method: operation.method.toLowerCase() as Lowercase<Operation['method']>,
    path: operation.path,
    operationId: id,
    tags: tag === undefined ? [] : [tag],
    summary,
    ...(description !== undefined && { description }),
    ...(deprecated !== undefined && { deprecated: true, 'x-sunset': deprecated.sunset }),
    security: toSecurity(auth) as never,
    ...(keyed && scopes.length > 0 && { 'x-required-scopes': scopes }),
    ...(keyed && alsoScopes.length > 0 && { 'x-also-required-scopes': alsoScopes }),
    parameters: [
      ...(operation.idempotent === true ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
      { $ref: '#/components/parameters/RequestId' },
    ],
    request: {
      ...(input.params !== undefined && { params: input.params }),
      ...(input.query !== undefined && { query: input.query }),
      ...(input.body !== undefined && { body: toRequestBody(operation, input.body, examples) }),
    },
    responses: toResponses(operation, shared, examples) as never,
  };
}

function requestName(operation: Operation): string {
  return `${operation.id}Request`;
}

function toRequestBody(
  operation: Operation,
  body: z.ZodType,
  examples: OperationExamples | undefined,
): NonNullable<NonNullable<RouteConfig['request']>['body']> {
  const type = operation.bodyType === 'multipart' ? 'multipart/form-data' : 'application/json';
  const schema = schemaRef(requestName(operation));
  return {
    // An empty body means `{}`.
    required: !body.safeParse({}).success,
    content: {
      [type]: toMediaType(type, schema, examples?.request?.body),
      ...(operation.bodyType === 'json-or-form' && { 'application/x-www-form-urlencoded': { schema } }),
    },
  };
}

/** Names the bodies of operations. A schema in two places is written once; its other names refer to the first. */
function nameSchemas(operations: readonly Operation[]): {
  readonly named: Map<z.ZodType, string>;
  readonly aliases: Record<string, JsonSchema>;
} {
  const named = new Map<z.ZodType, string>();
  const aliases: Record<string, JsonSchema> = {};
  const add = (name: string, schema: z.ZodType): void => {
    const known = named.get(schema);
    if (known !== undefined) aliases[name] = schemaRef(known);
    else if (isRecursive(schema)) aliases[name] = toRecursiveComponent(name, schema);
    else named.set(schema, name);
  };
  for (const operation of operations) {
    if (operation.input.body !== undefined) add(requestName(operation), operation.input.body);
    for (const [status, output] of Object.entries(operation.output)) {
      if (output.schema !== undefined && hasSchema(output))
        add(responseName(operation, status), output.schema);
    }
    for (const { status, schema } of operation.refusals ?? []) {
      if (schema !== undefined) add(responseName(operation, status), schema);
    }
  }
  return { named, aliases };
}
