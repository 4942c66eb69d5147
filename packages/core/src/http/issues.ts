import type * as z from 'zod';
import { countCharacters } from '../shared/characters.ts';
import type { IssueDetail } from '../shared/errors.ts';

/** Maximum number of unknown fields in one message. */
const MAX_NAMES = 10;
const MAX_NAME_LENGTH = 64;

/** Maximum length that is reported exactly, in characters. */
const MAX_COUNTED = 100_000;

/** Type names for messages about fields with several types. */
const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  boolean: 'true or false',
  number: 'a number',
  int: 'a whole number',
};

/** Replaces zod's messages only where they could be as long as the body. */
export const describeIssue: z.core.$ZodErrorMap = (issue) =>
  issue.code === 'unrecognized_keys' ? describeUnknown(issue.keys) : undefined;

/** Converts an issue for the response: path, expectation, received value. Never quotes a received string. */
export function toDetail(issue: z.core.$ZodIssue, root: unknown): IssueDetail {
  const { value, exists } = valueAt(root, issue.path);
  const path = issue.path.map(String).join('.');
  if (!exists && isAboutValue(issue)) return { path, message: `is required${describeKinds(issue)}` };
  const message = describe(issue);
  const got = describeValue(value) ?? (issue.code === 'invalid_type' ? describeType(value) : undefined);
  return { path, message: got === undefined ? message : `${message}, got ${got}` };
}

/** Replaces the issue of a union by the issues of the member that the value's type selects. */
export function expandUnion(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union' || hasOwnWords(issue)) return [issue];
  const meant = issue.errors.filter((issues) => !issues.some(isWrongType));
  const [only] = meant;
  if (only === undefined || meant.length > 1) return [issue];
  return only.flatMap((inner) => expandUnion({ ...inner, path: [...issue.path, ...inner.path] }));
}

function isWrongType({ code, path }: z.core.$ZodIssue): boolean {
  return path.length === 0 && (code === 'invalid_type' || code === 'invalid_value');
}

/** Whether an absent value can cause the issue. */
function isAboutValue({ code }: z.core.$ZodIssue): boolean {
  return code === 'invalid_type' || code === 'invalid_value' || code === 'invalid_union' || code === 'custom';
}

function describe(issue: z.core.$ZodIssue): string {
  // zod also names the received type, which `got` says.
  if (issue.code === 'invalid_type' && issue.message.startsWith('Invalid input: expected ')) {
    return `expected ${issue.expected}`;
  }
  if (issue.code !== 'invalid_union' || hasOwnWords(issue)) return issue.message;
  if (issue.discriminator !== undefined && issue.inclusive !== false) {
    return `Invalid option: expected ${joinOptions(issue.options)}`;
  }
  const types = issue.errors.flatMap((issues) =>
    issues.flatMap((inner) =>
      inner.code === 'invalid_type' ? [TYPES[inner.expected] ?? inner.expected] : [],
    ),
  );
  return types.length === 0 ? issue.message : `expected ${[...new Set(types)].join(' or ')}`;
}

/** Lists the values of a discriminator field. */
function describeKinds(issue: z.core.$ZodIssue): string {
  const isKind = issue.code === 'invalid_union' && issue.inclusive !== false;
  return isKind && issue.options !== undefined ? `: ${joinOptions(issue.options)}` : '';
}

function joinOptions(options: readonly unknown[] = []): string {
  return `one of ${options.map((option) => JSON.stringify(option)).join('|')}`;
}

/** Whether the schema of a union has a custom message. */
function hasOwnWords({ message }: z.core.$ZodIssue): boolean {
  return message !== 'Invalid input' && !message.startsWith('Invalid discriminator');
}

function describeUnknown(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).map((name) => {
    const start = name.slice(0, MAX_NAME_LENGTH).toWellFormed();
    return start.length < name.length ? `"${start}…"` : `"${start}"`;
  });
  const left = names.length - shown.length;
  return `Unrecognized key${names.length > 1 ? 's' : ''}: ${shown.join(', ')}${left > 0 ? ` and ${left} more` : ''}`;
}

function valueAt(root: unknown, path: readonly PropertyKey[]): { value: unknown; exists: boolean } {
  let value: unknown = root;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return { value: undefined, exists: true };
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return { value, exists: value !== undefined };
}

/** Describes the received value without quoting text, which may be a prompt or a secret. */
function describeValue(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return String(value);
  if (typeof value === 'string') return `${countBriefly(value)} characters of text`;
  if (Array.isArray(value)) return `a list of ${value.length}`;
  return undefined;
}

function describeType(value: unknown): string | undefined {
  return typeof value === 'object' ? 'an object' : undefined;
}

/** Limits the count, because counting megabytes takes longer than validating them. */
function countBriefly(text: string): string {
  if (text.length > 2 * MAX_COUNTED) return `more than ${MAX_COUNTED}`;
  return String(countCharacters(text));
}
