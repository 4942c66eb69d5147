import type { Operation } from '@questline/core';

/** Path parameters that fit, where 24 zeros do not. */
const PARAMETERS: Readonly<Record<string, string>> = { version: '1' };

/** A path of the operation whose parameters are well formed, and name nothing there is. */
export function pathOf(operation: Operation): string {
  return operation.path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => PARAMETERS[name] ?? '0'.repeat(24));
}

/** Enough to get past the body's schema check, or to be refused by it: never past the gate of another step. */
export function askFor(operation: Operation): { method: string; path: string; body?: unknown } {
  const { method, input } = operation;
  return { method, path: pathOf(operation), ...(input.body !== undefined && { body: {} }) };
}
