import { record } from '../content/fields.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Keywords that the vendor's decoder rejects. They are added to the description instead. */
const spoken = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
] as const;

/**
 * Converts a schema for the vendor's structured output: closes every object, which is stricter and so still satisfies the
 * original. Undefined for objects with free keys, which closing would empty, and for what the vendor rejects (references
 * that may be circular).
 * @see https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations
 */
export function closedSchema(schema: Schema): Schema | undefined {
  return closable(schema) ? (close(schema) as Schema) : undefined;
}

/** Values of these keywords are no schemas. */
const plain: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'required', 'examples']);

function isObject(node: Schema): boolean {
  return node.type === 'object' || node.properties !== undefined;
}

function closable(node: unknown): boolean {
  if (Array.isArray(node)) return node.every(closable);
  if (typeof node !== 'object' || node === null) return true;
  const schema = node as Schema;
  const { $ref, patternProperties, properties, additionalProperties = false } = schema;
  if ($ref !== undefined || patternProperties !== undefined) return false;
  if (isObject(schema) && (properties === undefined || additionalProperties !== false)) return false;
  return Object.entries(schema).every(([key, value]) => {
    if (plain.has(key)) return true;
    return key === 'properties' ? Object.values(record(value)).every(closable) : closable(value);
  });
}

function close(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(close);
  if (typeof node !== 'object' || node === null) return node;
  const { properties, additionalProperties: _, oneOf, ...rest } = node as Record<string, unknown>;
  const closed: Record<string, unknown> = {};
  const words: string[] = [];
  for (const [key, value] of Object.entries(rest)) {
    if ((spoken as readonly string[]).includes(key)) words.push(`${key}: ${JSON.stringify(value)}`);
    else if (plain.has(key)) closed[key] = value;
    else closed[key] = close(value);
  }
  if (oneOf !== undefined) closed.anyOf = close(oneOf);
  if (isObject(node as Schema)) {
    const entries = Object.entries(record(properties));
    closed.properties = Object.fromEntries(entries.map(([name, value]) => [name, close(value)]));
    closed.additionalProperties = false;
  }
  if (words.length > 0) {
    const description = typeof closed.description === 'string' ? `${closed.description}\n` : '';
    closed.description = `${description}(${words.join(', ')})`;
  }
  return closed;
}
