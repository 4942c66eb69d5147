import type { IdentityRequest } from '@questline/core/ports';

/** Returns the value of a header. @returns undefined for an absent, empty or repeated one. */
export function getHeader({ headers }: IdentityRequest, name: string): string | undefined {
  const value = headers[name];
  const [first, ...others] = typeof value === 'string' ? [value] : (value ?? []);
  return first === '' || others.length > 0 ? undefined : first;
}
