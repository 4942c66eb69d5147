/** A small program with one change of each kind that the tool treats in its own way. */

/** Tried only when the module loads. */
const LIMIT = 10;

export function isBelowLimit(value: number): boolean {
  return value < LIMIT;
}

/** Never resolves without its statement. */
export function resolvePositive(value: number): Promise<void> {
  return new Promise((resolve) => {
    if (value > 0) resolve();
  });
}

/** Ends the process at its limit with another bound. */
export function endAbove(value: number, limit: number): void {
  if (value > limit) process.kill(process.pid, 'SIGKILL');
}

/** Has a place as the name of a property. */
export function unused({ 0: value = true }: readonly boolean[]): boolean {
  return value;
}

/** Does not compile without its property. */
export function describeValue(value: number): { readonly text: string } {
  return { text: String(value) };
}
