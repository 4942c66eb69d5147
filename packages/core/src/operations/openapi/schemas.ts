import type { zodToOpenAPIRegistry } from '@asteasolutions/zod-to-openapi';
import * as z from 'zod';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** The registry of the generator: one per module, therefore used only within one synchronous call. */
export type MetadataRegistry = typeof zodToOpenAPIRegistry;

/** The path of components in the document. */
export function schemaRef(name: string): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}

/** What the generator reads from its registry: keywords that win over its own, and the name of a component. */
interface Keywords extends Record<string, unknown> {
  _internal?: { readonly refId: string };
}

/**
 * Runs a synchronous generation with component names and with the JSON Schema keywords that the generator loses, and
 * then removes both from its registry. Names are therefore free of global ids, and no schema is changed.
 * See docs/decisions/api-description.md.
 */
export function withKeywords<T>(
  registry: MetadataRegistry,
  named: ReadonlyMap<z.ZodType, string>,
  schemas: Iterable<z.ZodType>,
  generate: () => T,
): T {
  const keywords = new Map<z.ZodType, Keywords>();
  for (const schema of schemas) collectLost(schema, keywords);
  for (const [schema, refId] of named)
    keywords.set(schema, { ...keywords.get(schema), _internal: { refId } });
  // A host that uses the same generator may have registered a schema that it passes to Questline.
  const earlier = new Map(
    [...keywords.keys()].filter((key) => registry.has(key)).map((key) => [key, registry.get(key)]),
  );
  try {
    for (const [schema, own] of keywords) registry.add(schema, own as never);
    return generate();
  } finally {
    for (const schema of keywords.keys()) {
      registry.remove(schema);
      const meta = earlier.get(schema);
      if (meta !== undefined) registry.add(schema, meta as never);
    }
  }
}

/** Whether a schema contains itself. The generator does not end on a recursive schema without a name. */
export function isRecursive(schema: z.ZodType): boolean {
  try {
    z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', cycles: 'throw' });
    return false;
  } catch {
    return true;
  }
}

/** Converts a recursive schema, with its parts as definitions of its own. */
export function toRecursiveComponent(name: string, schema: z.ZodType): JsonSchema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const text = JSON.stringify(json).replaceAll('"#/', `"${schemaRef(name).$ref}/`);
  return JSON.parse(text.replaceAll('"$ref":"#"', `"$ref":"${schemaRef(name).$ref}"`)) as JsonSchema;
}

const ANY_TYPE = ['string', 'number', 'boolean', 'object', 'array', 'null'];

/** Adds the keywords that the generator would lose, for a schema and everything in it. */
function collectLost(schema: z.ZodType, keywords: Map<z.ZodType, Keywords>): void {
  const nullable: { readonly node: z.ZodType; readonly inner: z.ZodType }[] = [];
  z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const node = zodSchema as unknown as z.ZodType;
      const json = simplify(jsonSchema as Record<string, unknown>);
      if (node.def.type === 'nullable') {
        nullable.push({ node, inner: (node as z.ZodNullable<z.ZodType>).def.innerType });
        return;
      }
      const lost = getLost(node, json);
      if (Object.keys(lost).length > 0) keywords.set(node, lost);
    },
  });
  for (const { node, inner } of nullable) {
    const { type, enum: values } = getDeclared(inner, keywords);
    const types = Array.isArray(type) ? type : [type];
    // An entry, also without keywords, replaces a reference to a component, which would not allow the null beside it.
    keywords.set(node, {
      // A declared type replaces the generator's own, and with it the null.
      ...(type !== undefined && { type: [...new Set([...types, 'null'])] }),
      ...(Array.isArray(values) && { enum: [...new Set([...values, null])] }),
    });
  }
}

function getLost(schema: z.ZodType, json: JsonSchema): Keywords {
  const { def } = schema;
  switch (def.type) {
    case 'string':
      return getLostOfString(schema as z.ZodString, json);
    case 'number':
      return [null, 'safeint'].includes((schema as z.ZodNumber).format ?? null)
        ? pick(json, ['multipleOf'])
        : { ...json };
    case 'literal': {
      const { values } = def as z.core.$ZodLiteralDef<z.core.util.Literal>;
      return values.length === 1 && values[0] !== null ? {} : { ...json };
    }
    case 'object':
      // The generator leaves out properties of any value, because they accept undefined.
      return pick(json, ['required']);
    case 'record':
      return pick(json, ['propertyNames']);
    case 'tuple':
      return pick(json, ['items', 'minItems', 'maxItems']);
    case 'catch':
    case 'custom':
    case 'file':
    case 'function':
    case 'map':
    case 'nan':
    case 'never':
    case 'promise':
    case 'set':
    case 'success':
    case 'symbol':
    case 'transform':
    case 'undefined':
    case 'void':
      return { type: ANY_TYPE, ...json };
    default:
      return {};
  }
}

/** The generator knows one pattern without flags, and no encoding. */
function getLostOfString({ def, format }: z.ZodString, json: JsonSchema): Keywords {
  const patterns = (def.checks ?? []).filter(
    (check) => '_zod' in check && check._zod.def.check === 'string_format',
  );
  const isPlain =
    patterns.length <= 1 && (format === null || format === 'regex') && json.contentEncoding === undefined;
  return isPlain && !hasFlags(patterns[0])
    ? {}
    : pick(json, ['allOf', 'contentEncoding', 'format', 'pattern']);
}

function hasFlags(check: z.core.$ZodCheck<never> | undefined): boolean {
  const { pattern } = (check?._zod.def ?? {}) as { pattern?: RegExp };
  return pattern !== undefined && pattern.flags !== '';
}

/** The metadata that the generator finds for a schema, through its wrappers. */
function getDeclared(schema: z.ZodType, keywords: ReadonlyMap<z.ZodType, Keywords>): JsonSchema {
  const own = { ...keywords.get(schema), ...schema.meta() };
  const { innerType, in: input } = schema.def as { innerType?: z.ZodType; in?: z.ZodType };
  const inner = innerType ?? input;
  return inner === undefined ? own : { ...getDeclared(inner, keywords), ...own };
}

function pick(json: JsonSchema, names: readonly string[]): Keywords {
  return Object.fromEntries(
    names.filter((name) => json[name] !== undefined).map((name) => [name, json[name]]),
  );
}

/** Removes noise: bounds of safe integers, string keys. */
function simplify(schema: Record<string, unknown>): JsonSchema {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  const { propertyNames } = schema as { propertyNames?: JsonSchema };
  if (propertyNames?.type === 'string' && Object.keys(propertyNames).length === 1)
    delete schema.propertyNames;
  return schema;
}
