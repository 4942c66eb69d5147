/**
 * Whether a JSON Schema keeps to the subset that OpenAI's strict mode takes: every object closed, every property
 * required. Other schemas are sent without `strict`, because strict mode refuses them.
 * @see https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
 */
export function isStrictSchema(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrictSchema);
  if (typeof schema !== 'object' || schema === null) return true;
  const { type, properties, required, additionalProperties, ...rest } = schema as Record<string, unknown>;
  if (type === 'object' || properties !== undefined) {
    const names = Object.keys((properties ?? {}) as object);
    if (additionalProperties !== false) return false;
    if (!Array.isArray(required) || !names.every((name) => required.includes(name))) return false;
  }
  return (
    Object.values((properties ?? {}) as object).every(isStrictSchema) &&
    Object.values(rest).every(isStrictSchema)
  );
}
