import type { JsonSchema } from './schemas.ts';

interface MediaType {
  readonly schema: JsonSchema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

/** One media type of a body, with its example. Of a stream, each event is an example. */
export function toMediaType(type: string, schema: JsonSchema, example: unknown): MediaType {
  if (example === undefined) return { schema };
  if (!type.startsWith('text/event-stream') || !Array.isArray(example)) return { schema, example };
  const examples = (example as readonly unknown[]).map((value, index) => [`event${index + 1}`, { value }]);
  return { schema, examples: Object.fromEntries(examples) };
}
