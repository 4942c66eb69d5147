import type { About } from './fields.ts';
import { environmentSchema } from './schema.ts';

/** One environment variable, for the help text and the documentation. */
export interface Variable {
  readonly name: string;
  readonly meaning: string;
  /** The default value. Absent: none. */
  readonly fallback?: string;
}

/** The three secrets, each 64 hexadecimal characters (32 bytes). */
export const SECRETS = ['JWT_SECRET', 'SESSION_SECRET', 'SECRET_ENCRYPTION_KEY'] as const;

export type SecretName = (typeof SECRETS)[number];

/** Every variable. A blank value counts as not set. */
export const VARIABLES: readonly Variable[] = Object.entries(environmentSchema.shape).map(
  ([name, schema]) => {
    const { meaning, fallback } = schema.meta() as unknown as About;
    const byDefault = fallback ?? ('defaultValue' in schema.def ? show(schema.def.defaultValue) : undefined);
    return { name, meaning, ...(byDefault !== undefined && { fallback: byDefault }) };
  },
);

function show(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  const { limit, per } = value as Readonly<Record<string, unknown>>;
  return `${String(limit)}/${String(per)}`;
}
