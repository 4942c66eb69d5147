import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Description } from '@questline/core/internal';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { createWire } from '../support/wire.ts';

interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly [keyword: string]: unknown;
}

const wire = await createWire();

async function read(path: string): Promise<Description> {
  return (await wire.send({ method: 'GET', path })).body as Description;
}

const PATHS = ['/api/v1/openapi.json', '/api/openapi.json'] as const;
const documents = await Promise.all(PATHS.map(async (path) => [path, await read(path)] as const));

/** The properties of a schema and its nested schemas that have no description. */
function listUndescribed(root: Schema, name: string, components: Readonly<Record<string, Schema>>): string[] {
  const isDescribed = (schema: Schema): boolean => {
    if (schema.description !== undefined && schema.description !== '') return true;
    const referenced = components[schema.$ref?.split('/').at(-1) ?? ''];
    const parts = (schema.allOf ?? []) as readonly Schema[];
    return (referenced !== undefined && isDescribed(referenced)) || parts.some(isDescribed);
  };
  const walk = (schema: Schema, path: string): string[] => [
    ...Object.entries(schema.properties ?? {}).flatMap(([field, property]) => [
      ...(isDescribed(property) ? [] : [`${path}.${field}`]),
      ...walk(property, `${path}.${field}`),
    ]),
    ...['items', 'additionalProperties'].flatMap((keyword) => {
      const part = schema[keyword];
      return typeof part === 'object' && part !== null ? walk(part as Schema, `${path}[]`) : [];
    }),
    ...['allOf', 'anyOf', 'oneOf', 'prefixItems'].flatMap((keyword) =>
      ((schema[keyword] ?? []) as readonly Schema[]).flatMap((part) => walk(part, path)),
    ),
  ];
  return walk(root, name);
}

describe.each(documents)('%s', (_, { paths, components }) => {
  const operations = Object.values(paths).flatMap((place) => Object.values(place));
  const schemas = (components.schemas ?? {}) as unknown as Readonly<Record<string, Schema>>;

  it('describes every operation', () => {
    const missing = operations.filter(({ description = '' }) => description === '');
    expect(
      missing.map(({ operationId }) => operationId),
      'Add `description` to these operations in the contract.ts of their feature: what a client must know beyond the summary.',
    ).toEqual([]);
  });

  it('describes every field of requests and answers', () => {
    expect(
      Object.entries(schemas).flatMap(([name, schema]) => listUndescribed(schema, name, schemas)),
      'Add `.describe(...)` to these fields in the contract.ts of their feature; the name starts with the operation id.',
    ).toEqual([]);
  });

  it('describes every parameter and header', () => {
    const parameters = operations.flatMap(({ operationId, parameters: own = [] }) =>
      own
        .filter((one) => one.$ref === undefined && !one.description)
        .map((one) => `${operationId} ${one.name}`),
    );
    const headers = operations.flatMap(({ operationId, responses }) =>
      Object.values(responses).flatMap((response) =>
        Object.entries((response.headers ?? {}) as Record<string, Schema>)
          .filter(([, header]) => header.$ref === undefined && !header.description)
          .map(([name]) => `${operationId} ${name}`),
      ),
    );
    expect(
      [...parameters, ...headers],
      'Add `.describe(...)` to these parameters, and a text to these headers, in the contract.ts of their feature.',
    ).toEqual([]);
  });

  it('lists every tag with a description', () => {
    const { tags } = Object.fromEntries(documents)[_] as Description;
    expect(tags.filter(({ description }) => description === undefined).map(({ name }) => name)).toEqual([]);
  });
});

/** The operations that return the documents have no examples. */
const DOCUMENTS = ['getDescription', 'getApplicationDescription', 'getReference'];

interface Media {
  readonly schema: object;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

type Content = Readonly<Record<string, Media>>;

describe.each(documents)('examples of %s', (path, description) => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema({ $id: path, ...description });
  const operations = Object.values(description.paths)
    .flatMap((place) => Object.values(place))
    .filter(({ operationId }) => !DOCUMENTS.includes(operationId));

  const listBodies = ({ requestBody, responses }: (typeof operations)[number]): [string, Media][] => {
    const [answer] = Object.entries(responses).filter(([status]) => status.startsWith('2'));
    const contents = [
      ['request', (requestBody as { content?: Content } | undefined)?.content],
      [answer?.[0] ?? '', (answer?.[1] as { content?: Content } | undefined)?.content],
    ] as const;
    return contents.flatMap(([what, content = {}]) =>
      Object.entries(content)
        .filter(([type]) => /^(?:application\/json|text\/event-stream)/.test(type))
        .map(([, media]): [string, Media] => [what, media]),
    );
  };

  const getExamples = ({ example, examples = {} }: Omit<Media, 'schema'>): unknown[] => [
    ...(example === undefined ? [] : [example]),
    ...Object.values(examples).map(({ value }) => value),
  ];

  it('include every request and answer', () => {
    const missing = operations.flatMap((operation) =>
      listBodies(operation)
        .filter(([, media]) => getExamples(media).length === 0)
        .map(([what]) => `${operation.operationId} ${what}`),
    );
    expect(missing, 'Run: npm run examples:record').toEqual([]);
  });

  it('match their schemas', () => {
    const invalid = operations.flatMap((operation) =>
      listBodies(operation).flatMap(([what, { schema, ...media }]) => {
        const { $ref } = schema as { $ref?: string };
        const validate = ajv.compile($ref === undefined ? schema : { $ref: `${path}${$ref}` });
        return getExamples(media)
          .filter((example) => !validate(example))
          .map(() => `${operation.operationId} ${what}: ${ajv.errorsText(validate.errors)}`);
      }),
    );
    expect(invalid).toEqual([]);
  });
});

/** Prints for each document whether it has examples. */
const PROGRAM = `
  import { createApi, createServices, toFetchHandler } from '@questline/core';
  import { createMemoryPorts } from '@questline/core/memory';
  const services = createServices({ ...createMemoryPorts(), models: [] }, { jwtSecret: 'a'.repeat(64) });
  const handle = toFetchHandler(createApi(services, { worker: false }));
  for (const path of ${JSON.stringify(PATHS)}) {
    const answer = await handle(new Request('http://questline.test' + path));
    console.log(answer.status, (await answer.text()).includes('"example":'));
  }`;

it('reads the examples in a program that Node runs from the sources', async () => {
  const parameters = ['--conditions=@questline/source', '--disable-warning=ExperimentalWarning'];
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...parameters, '--input-type=module', '--eval', PROGRAM],
    { cwd: import.meta.dirname },
  );
  expect(stdout).toBe('200 true\n200 true\n');
});

it('lists every operation of the api in exactly one of the documents', () => {
  const listed = documents.flatMap(([, { paths }]) =>
    Object.values(paths).flatMap((place) => Object.values(place).map(({ operationId }) => operationId)),
  );
  expect(
    listed.sort(),
    'An operation without `tag` is in no document. Give it one of the tags of operations/openapi/tags.ts.',
  ).toEqual(wire.app.api.routes.map(({ operation }) => operation.id).sort());
});
