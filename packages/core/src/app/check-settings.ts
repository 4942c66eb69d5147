import type * as z from 'zod';
import { getKind, shown } from './configuration-error.ts';
import type { Settings } from './settings.ts';
import { settingsSchema } from './settings-schema.ts';

/** Options whose values are never shown. */
const SECRETS: ReadonlySet<unknown> = new Set<keyof Settings>([
  'jwtSecret',
  'sessionSecret',
  'secretEncryptionKey',
  'setupCode',
]);

/** @returns what is wrong with each option. */
export function findSettingIssues(settings: Settings): string[] {
  const result = settingsSchema.safeParse(settings, { jitless: true });
  return result.success ? [] : result.error.issues.flatMap((issue) => describeIssue(issue, settings));
}

function describeIssue(issue: z.core.$ZodIssue, settings: unknown): string[] {
  const path = ['settings', ...issue.path.map(String)].join('.');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `${path}.${key}: unknown option`);
  }
  // Removes zod's generic prefix; the given value is added below.
  const wanted = issue.message.replace(/^(?:Invalid|Too)[^:]*: /, '').replace(/, received .*$/, '');
  return [
    `${path}: ${wanted}, got ${SECRETS.has(issue.path[0]) ? sized(valueAt(settings, issue.path)) : shown(valueAt(settings, issue.path))}`,
  ];
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root;
  for (const key of path) value = (value as Record<PropertyKey, unknown> | undefined)?.[key];
  return value;
}

/** Shows only the length of a secret. */
function sized(secret: unknown): string {
  return typeof secret === 'string' || secret instanceof Uint8Array ? `${secret.length}` : getKind(secret);
}
