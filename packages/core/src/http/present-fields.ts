import type * as z from 'zod';

/** Bodies with the same fields after which a schema of these fields is made: making one takes as long as hundreds of checks. */
const USES_BEFORE = 200;
/** Different sets of fields of one schema. Bodies with a further set are checked by the whole schema. */
const MAX_SETS = 64;
/** Optional fields of one object: each is one bit of an exact integer. */
const MAX_FIELDS = 50;

/**
 * Returns a schema with the same result for a valid value. Zod checks each optional field that a value does not have, and a
 * hot path has dozens of them: so a schema without these fields is used for sets of fields that come often.
 */
export type NarrowSchema = (value: unknown) => z.ZodType;

/** One set of fields. */
interface FieldSet {
  uses: number;
  schema: z.ZodType | undefined;
}

/** An object and the objects in its fields. */
interface Plan {
  readonly schema: z.ZodObject;
  /** The bit of each field that may be absent without an effect. */
  readonly bits: ReadonlyMap<string, number>;
  readonly inner: readonly (readonly [field: string, plan: Plan])[];
}

export function createNarrowing(schema: z.ZodType): NarrowSchema {
  const sets = new Map<string, FieldSet>();
  let uses = 0;
  let plan: Plan | undefined;
  return (value) => {
    uses += 1;
    if (uses === USES_BEFORE) plan = toPlan(schema);
    const name = plan && nameSet(plan, value);
    if (name === undefined) return schema;
    const set = sets.get(name);
    if (set === undefined) {
      if (sets.size < MAX_SETS) sets.set(name, { uses: 1, schema: undefined });
      return schema;
    }
    set.uses += 1;
    if (set.uses > USES_BEFORE && plan !== undefined) set.schema ??= toSchema(plan, value as object);
    return set.schema ?? schema;
  };
}

/** @returns undefined for a schema that is no plain object, or has nothing to leave out. */
function toPlan(schema: z.ZodType): Plan | undefined {
  if (schema.def.type !== 'object') return undefined;
  const object = schema as z.ZodObject;
  if ((object.def.checks ?? []).length > 0) return undefined;
  const fields = Object.entries(object.shape as Readonly<Record<string, z.ZodType>>);
  const optional = fields.filter(([, field]) => isAbsentWithoutEffect(field));
  if (optional.length > MAX_FIELDS) return undefined;
  const inner = fields.flatMap(([name, field]) => {
    const plan = toPlan(unwrap(field));
    return plan === undefined ? [] : [[name, plan] as const];
  });
  if (optional.length === 0 && inner.length === 0) return undefined;
  return { schema: object, bits: new Map(optional.map(([name], at) => [name, 2 ** at])), inner };
}

function unwrap(field: z.ZodType): z.ZodType {
  return field.def.type === 'optional' ? ((field as z.ZodOptional).def.innerType as z.ZodType) : field;
}

/** A default inside of an optional field fills it. */
function isAbsentWithoutEffect(field: z.ZodType): boolean {
  return field.def.type === 'optional' && unwrap(field)._zod.optin === undefined;
}

/** @returns undefined for a value that is no object. */
function nameSet({ bits, inner }: Plan, value: unknown): string | undefined {
  if (!isObject(value)) return undefined;
  let present = 0;
  for (const field in value) present += bits.get(field) ?? 0;
  let name = String(present);
  for (const [field, plan] of inner) {
    const part = nameSet(plan, (value as Readonly<Record<string, unknown>>)[field]);
    if (part !== undefined) name += `,${field}(${part})`;
  }
  return name;
}

function toSchema({ schema, bits, inner }: Plan, value: object): z.ZodType {
  const absent = [...bits.keys()].filter((field) => !(field in value));
  const mask: Record<string, true> & Record<number, never> = {};
  for (const field of absent) Object.assign(mask, { [field]: true });
  const present = schema.omit(mask);
  const parts = inner.flatMap(([field, plan]) => {
    const part = (value as Readonly<Record<string, unknown>>)[field];
    return isObject(part) ? [[field, toSchema(plan, part)] as const] : [];
  });
  return parts.length === 0 ? present : present.extend(Object.fromEntries(parts));
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
