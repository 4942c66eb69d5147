import { createTypeWriter, type Schema, union, writeComment, writeName } from './schema.ts';

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>;

interface DescribedOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
  readonly security: readonly unknown[];
}

/** The parts of an OpenAPI document that the client needs. */
export interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** The permission of these is in the query of a link. The description therefore has no parameters, and no body of bytes. */
const SIGNED: Readonly<Record<string, string>> = {
  getObject: '{ link: string }',
  putObject:
    '{ link: string; body: Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> }',
  postObject: '{ link: string; body: FormData }',
};

const JSON_TYPE = 'application/json';
const EVENTS_TYPE = 'text/event-stream';

/** Writes the operations of a description: types and what a request needs. */
export function writeOperations({ paths, components: { schemas } }: Description): readonly string[] {
  const types = new Map<string, string>();

  /** Adds a component and everything that it refers to, and returns its type name. */
  const refer = (component: string): string => {
    const name = toTypeName(component, schemas);
    if (types.has(name)) return name;
    types.set(name, '');
    const schema = schemas[component];
    if (schema === undefined) throw new Error(`there is no component ${component}`);
    const text = createTypeWriter(refer, component.endsWith('Request')).write(schema);
    const isInterface = schema.type === 'object' && text.startsWith('{');
    types.set(
      name,
      `${writeComment(schema)}export ${isInterface ? `interface ${name} ${text}` : `type ${name} = ${text};`}\n`,
    );
    return name;
  };
  const requests = createTypeWriter(refer, true);

  const writeInput = ({ operationId, parameters = [], requestBody }: DescribedOperation): string => {
    const signed = SIGNED[operationId];
    if (signed !== undefined) return signed;
    const parts = [writeParameters('params', parameters), writeParameters('query', parameters)];
    const [content] = Object.values(requestBody?.content ?? {});
    if (content !== undefined)
      parts.push(`body${requestBody?.required === true ? '' : '?'}: ${requests.write(content.schema)}`);
    const written = parts.filter((part) => part !== '');
    return written.length === 0 ? 'NoInput' : `{ ${written.join('; ')} }`;
  };

  const writeParameters = (kind: 'params' | 'query', parameters: readonly Parameter[]): string => {
    const own = parameters.filter((parameter) => parameter.in === (kind === 'params' ? 'path' : 'query'));
    if (own.length === 0) return '';
    const isOptional = own.every(({ required }) => required !== true);
    const rows = own.map(({ name, required, description, schema }) => {
      const comment = writeComment(description === undefined ? schema : { description }, '  ');
      const type = requests.write(schema, 1);
      return `${comment}  ${writeName(name)}${required === true ? '' : '?'}: ${type}${required === true ? '' : ' | undefined'};\n`;
    });
    return `${kind}${isOptional ? '?' : ''}: {\n${rows.join('')}}`;
  };

  const writeOutput = ({ responses }: DescribedOperation): string => {
    const answers = createTypeWriter(refer, false);
    const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'));
    return union(
      successes.flatMap(([, { content }]) => {
        if (content === undefined) return ['undefined'];
        return Object.entries(content).map(([type, { schema }]) => {
          if (type === JSON_TYPE) return answers.write(schema);
          return type === EVENTS_TYPE ? `EventStream<Frame<${answers.write(schema)}>>` : 'Response';
        });
      }),
    );
  };

  const resolve = (schema: Schema | undefined): Schema | undefined =>
    schema?.$ref === undefined
      ? schema
      : resolve(schemas[schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)]);

  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const { operationId: id, summary, description, parameters = [], requestBody } = operation;
      const input = writeInput(operation);
      const output = writeOutput(operation);
      const page = getPage(operation, resolve(operation.responses['200']?.content?.[JSON_TYPE]?.schema));
      const fields = [
        `id: '${id}'`,
        `method: '${method.toUpperCase()}'`,
        `path: '${path}'`,
        ...(operation.security.length === 0 ? ['open: true'] : []),
        // A stream with a key is stored: only a caller who wants that sends one.
        ...(parameters.some(({ $ref }) => $ref?.endsWith('/IdempotencyKey')) &&
        !output.startsWith('EventStream')
          ? ['idempotent: true']
          : []),
        ...(requestBody?.content['multipart/form-data'] === undefined ? [] : ['isForm: true']),
        ...(page === undefined ? [] : [`page: { by: '${page.by}', entries: '${page.entries}' }`]),
      ];
      const type =
        page === undefined
          ? `Operation<${input}, ${output}>`
          : `PagedOperation<${input}, ${output}, '${page.entries}'>`;
      const comment = writeComment({
        description: [
          `${summary}: \`${method.toUpperCase()} ${path}\`.`,
          ...(description === undefined ? [] : ['', description]),
        ].join('\n'),
        ...(operation.deprecated === true && { deprecated: true }),
      });
      const place = `{ readonly method: '${method.toUpperCase()}'; readonly path: '${path}' }`;
      return `${comment}export const ${id}: ${type} & ${place} = { ${fields.join(', ')} };\n`;
    }),
  );
  return [...types.values(), ...operations];
}

/** How the next page of a list is requested. */
function getPage(
  { parameters = [] }: DescribedOperation,
  answer: Schema | undefined,
): { by: string; entries: string } | undefined {
  const [entries] = Object.entries(answer?.properties ?? {}).find(([, { type }]) => type === 'array') ?? [];
  const names = new Set(parameters.map(({ name }) => name));
  if (entries === undefined) return undefined;
  const by = ['cursor', 'page', 'pagination[page]', 'offset'].find((name) => names.has(name));
  return by === undefined ? undefined : { by, entries };
}

function toTypeName(component: string, schemas: Readonly<Record<string, Schema>>): string {
  const pascal = `${component.charAt(0).toUpperCase()}${component.slice(1)}`;
  const [, stem, status = ''] = /^(.*Response)(\d{3})$/.exec(pascal) ?? [];
  if (stem === undefined) return pascal;
  const isOnly = !Object.keys(schemas).some(
    (other) =>
      other !== component && other.startsWith(component.slice(0, -3)) && /^2\d\d$/.test(other.slice(-3)),
  );
  return status.startsWith('2') && isOnly ? stem : pascal;
}
