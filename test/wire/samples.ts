import type { Operation } from '@questline/core';

/** Valid path parameters for which an ID does not fit. */
const PARAMETERS: Readonly<Record<string, string>> = { version: '1' };

/** A path of the operation with well-formed parameters that refer to no record. */
export function getPath(operation: Operation): string {
  return operation.path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => PARAMETERS[name] ?? '0'.repeat(24));
}

/** A request that passes the other checks; its body may be valid or invalid. */
export function askFor(operation: Operation): { method: string; path: string; body?: unknown } {
  const { method, input } = operation;
  return { method, path: getPath(operation), ...(input.body !== undefined && { body: {} }) };
}
