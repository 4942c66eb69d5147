/** The fields of an object, or an empty object: for untrusted responses. */
export function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** Returns the first value that is a short machine-readable name. */
export function firstLabel(...values: readonly unknown[]): string | undefined {
  return values.find((value) => typeof value === 'string' && /^[A-Za-z_][\w.\-[\]]{0,79}$/.test(value)) as
    | string
    | undefined;
}

/** A text that is not empty. */
export function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
