/**
 * Invalid ports or settings of `createServices`, or invalid options of `createApi`. The message lists each option with
 * the expected and the given value, and never quotes a secret.
 */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
  readonly issues: readonly string[];
  constructor(issues: readonly string[], of: 'createServices' | 'createApi' = 'createServices') {
    super(`${of}: ${issues.join('; ')}`);
    this.issues = issues;
  }
}

/** Shows text only if it cannot be a secret: short, and without credentials in front of an `@`. */
export function shown(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') return getKind(value);
  return value.length <= 100 && !/[\w:]@/.test(value)
    ? JSON.stringify(value)
    : `text of ${value.length} characters`;
}

export function getKind(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'another object' : `a ${typeof value}`;
}
