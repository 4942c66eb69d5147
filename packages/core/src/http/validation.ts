import type * as z from 'zod';
import { ApiError, type IssueDetail } from '../shared/errors.ts';
import { describeIssue, expandUnion, toDetail } from './issues.ts';
import type { NarrowSchema } from './present-fields.ts';

/** Maximum number of issues in one response. */
const MAX_ISSUES = 100;

/**
 * Maximum number of values for which every issue is collected. In a larger body, validation stops at the first issue
 * of each list and object: 100,000 issues take half a second.
 */
const MAX_VALUES = 4000;

const EVERY_ISSUE: z.core.ParseContext<z.core.$ZodIssue> = { error: describeIssue };
const FIRST_ISSUES: z.core.ParseContextInternal<z.core.$ZodIssue> = { ...EVERY_ISSUE, abortEarly: true };

/** Returns the first value of each query parameter. */
export function parseQuery(query: string): Record<string, string> {
  const values: Record<string, string> = {};
  if (query === '') return values;
  for (const [name, value] of new URLSearchParams(query)) {
    if (name !== '__proto__' && !Object.hasOwn(values, name)) values[name] = value.replaceAll('\u0000', '');
  }
  return values;
}

/**
 * Validates a value against its schema. @throws ApiError 422 with at most 100 issues: path, expectation, received
 * value. Never quotes a received string. In a body of more than 4,000 values, validation stops at the first issue of
 * each list and object.
 * @param narrow finds a faster schema for valid values.
 */
export function validate<S extends z.ZodType>(schema: S, value: unknown, narrow?: NarrowSchema): z.output<S> {
  const used = narrow?.(value) ?? schema;
  let first = used.safeParse(value, FIRST_ISSUES);
  if (!first.success && used !== schema) first = schema.safeParse(value, FIRST_ISSUES);
  if (first.success) return first.data as z.output<S>;
  const isComplete = holdsAtMost(value, MAX_VALUES);
  const { error = first.error } = isComplete ? schema.safeParse(value, EVERY_ISSUE) : first;
  throw invalidValue(error.issues.flatMap(expandUnion), value, isComplete);
}

function invalidValue(issues: readonly z.core.$ZodIssue[], value: unknown, isComplete: boolean): ApiError {
  const details = issues.slice(0, MAX_ISSUES).map((issue) => toDetail(issue, value));
  const left = issues.length - details.length;
  if (left > 0) details.push({ path: '', message: `${left} more issues are not listed` });
  if (!isComplete) details.push({ path: '', message: 'the rest of the body was not checked' });
  return new ApiError(422, summarize(details, issues.length, isComplete), { details });
}

function summarize([first]: readonly IssueDetail[], count: number, isComplete: boolean): string {
  if (first === undefined) return 'invalid request';
  const text = first.path === '' ? first.message : `${first.path}: ${first.message}`;
  if (!isComplete) return `${text} (the rest of the body was not checked)`;
  return count > 1 ? `${text} (and ${count - 1} more)` : text;
}

/** Whether a value contains at most a number of values. Stops counting at the limit. */
function holdsAtMost(value: unknown, most: number): boolean {
  let left = most;
  const isWithin = (one: unknown): boolean => {
    left -= 1;
    if (left < 0) return false;
    if (typeof one !== 'object' || one === null) return true;
    return Object.values(one).every(isWithin);
  };
  return isWithin(value);
}
