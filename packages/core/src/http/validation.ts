import type * as z from 'zod';
import { ApiError, type FaultDetail } from '../errors.ts';

/** The first value of each query parameter. */
export function parseQuery(query: string): Record<string, string> {
  const values: Record<string, string> = {};
  if (query === '') return values;
  for (const [name, value] of new URLSearchParams(query)) {
    if (name !== '__proto__' && !Object.hasOwn(values, name)) values[name] = value.replaceAll('\u0000', '');
  }
  return values;
}

/**
 * Checks a value against its schema.
 * @throws ApiError 422 that names every fault: which field, what is wanted, what came. Never quotes a string that came.
 */
export function validate<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const details = result.error.issues.map((issue) => detailOf(issue, value));
  const [first] = details;
  const more = details.length > 1 ? ` (and ${details.length - 1} more)` : '';
  const message =
    first === undefined
      ? 'invalid request'
      : `${first.path === '' ? '' : `${first.path}: `}${first.message}${more}`;
  throw new ApiError(422, message, { details });
}

function detailOf(issue: z.core.$ZodIssue, root: unknown): FaultDetail {
  const path = issue.path.map(String).join('.');
  const got = gotAt(root, issue.path);
  return { path, message: got === undefined ? issue.message : `${issue.message}, got ${got}` };
}

/** What stood there, told without quoting text: it may be a prompt or a secret. */
function gotAt(root: unknown, path: readonly PropertyKey[]): string | undefined {
  let value: unknown = root;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return String(value);
  if (typeof value === 'string') return `${[...value].length} characters of text`;
  if (Array.isArray(value)) return `a list of ${value.length}`;
  return undefined;
}
