import * as z from 'zod';
import { text } from './text.ts';

/** Maximum number of entries of a list in a request. */
export interface ListBounds {
  readonly min?: number;
  readonly max: number;
}

interface ListDefinition extends z.core.$ZodArrayDef {
  readonly maxEntries: number;
}

const BaseArray: z.core.$constructor<z.ZodArray, z.core.$ZodArrayDef> = z.ZodArray;

/** An array that counts its entries before it checks them. zod's own `max` counts afterwards, and counts texts too. */
const BoundedArray = z.core.$constructor<z.ZodArray, ListDefinition>('BoundedArray', (inst, def) => {
  BaseArray.init(inst, def);
  const { parse } = inst._zod;
  inst._zod.parse = (payload, context) => {
    const { value: input } = payload;
    const { maxEntries: maximum } = def;
    if (!Array.isArray(input) || input.length <= maximum) return parse(payload, context);
    payload.issues.push({
      code: 'too_big',
      origin: 'array',
      maximum,
      inclusive: true,
      input,
      inst,
      continue: false,
    });
    return payload;
  };
});

/** A list in a request. Every list has a maximum; see docs/decisions/lists.md. */
export function list<T extends z.ZodType>(entry: T, { min, max }: ListBounds): z.ZodArray<T> {
  const bounded = new BoundedArray({ type: 'array', element: entry, maxEntries: max }) as z.ZodArray<T>;
  return (min === undefined ? bounded : bounded.min(min)).meta({ maxItems: max });
}

/** A list of names: ids, tools, scopes, tags. Duplicates count towards the maximum and are then removed. */
export function distinctList<T extends z.ZodType>(
  entry: T,
  bounds: ListBounds,
  /** The key that identifies duplicates. Default: the entry itself. */
  getKey: (entry: z.output<T>) => unknown = (value) => value,
): z.ZodArray<T> {
  return list(entry, bounds)
    .overwrite((entries) => removeRepetitions(entries, getKey))
    .meta({ uniqueItems: true });
}

/** Ids or names, in the order of the request. */
export function distinctStrings(max: number): z.ZodArray<z.ZodString> {
  return distinctList(z.string(), { max });
}

/** Maximum number of tools in one list of a request or record. */
export const MAX_TOOLS = 200;

/** Truncates a list that may have been stored before lists had a maximum. */
export function firstDistinct(values: readonly string[] = [], max: number): string[] {
  return [...new Set(values)].slice(0, max);
}

/** A free-form JSON object in a request, with a maximum number of properties. It is not copied. */
export function jsonObject<V = unknown>(maxProperties: number): z.ZodCustom<Record<string, V>> {
  return z
    .custom<Record<string, V>>(
      (value) => isObject(value) && Object.keys(value).length <= maxProperties,
      `expected an object of at most ${maxProperties} properties`,
    )
    .meta({ type: 'object', additionalProperties: {}, maxProperties });
}

function removeRepetitions<T>(entries: readonly T[], getKey: (entry: T) => unknown): T[] {
  const seen = new Set<unknown>();
  return entries.filter((entry) => {
    const key = getKey(entry);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A list of models, by id. */
export const modelList = distinctList(text({ min: 1, max: 200 }), { min: 1, max: 100 });
