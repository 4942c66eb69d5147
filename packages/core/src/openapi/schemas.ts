import * as z from 'zod';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Where a component is found in the document. */
export function schemaRef(name: string): { readonly $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}

/**
 * Turns named schemas into components. A schema that stands in several places is written once and referred to.
 * What a client may send and what a handler returns are both zod's input side: nothing is parsed on the way out.
 */
export function toComponents(named: ReadonlyMap<string, z.ZodType>): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  const firstName = new Map<z.ZodType, string>();
  const components: Record<string, JsonSchema> = {};
  for (const [name, schema] of named) {
    const known = firstName.get(schema);
    if (known !== undefined) {
      components[name] = schemaRef(known);
      continue;
    }
    firstName.set(schema, name);
    registry.add(schema, { id: name });
  }
  const { schemas } = z.toJSONSchema(registry, {
    target: 'draft-2020-12',
    io: 'input',
    unrepresentable: 'any',
    uri: (id) => schemaRef(id).$ref,
    override: ({ jsonSchema }) => simplify(jsonSchema),
  });
  for (const [name, { $id: _, $schema: __, ...schema }] of Object.entries(schemas)) {
    components[name] = withPlainRefs(schema);
  }
  return components;
}

/** Drops what says nothing to a reader: bounds of safe integers, string keys. */
function simplify(schema: Record<string, unknown>): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  const { propertyNames } = schema as { propertyNames?: JsonSchema };
  if (propertyNames?.type === 'string' && Object.keys(propertyNames).length === 1)
    delete schema.propertyNames;
}

/** Recursive schemas without a name are written below one component, as if it were a document of its own: it is not. */
function withPlainRefs(schema: JsonSchema): JsonSchema {
  const text = JSON.stringify(schema);
  return JSON.parse(text.replaceAll('/__shared#/', '/__shared/')) as JsonSchema;
}

/** One schema by itself, for a parameter. */
export function toParameters(schema: z.ZodObject): { name: string; required: boolean; schema: JsonSchema }[] {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io: 'input',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => simplify(jsonSchema),
  });
  return Object.entries(properties).map(([name, property]) => ({
    name,
    required: required.includes(name),
    schema: property as JsonSchema,
  }));
}
