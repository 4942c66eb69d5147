/** The middle of a list of numbers; of an even count the mean of the two middle ones. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** One line of a result: what it was, the ratio, and the goal it is held against. */
export function reportRatio(what: string, ratio: number, goal: number, details: string): void {
  const verdict = ratio <= goal ? 'met' : 'MISSED';
  console.log(`${what.padEnd(58)} ${ratio.toFixed(2)} x   goal <= ${goal} x   ${verdict}   ${details}`);
}

/** The same for a figure with a unit of its own. */
export function reportAmount(
  what: string,
  amount: number,
  unit: string,
  goal: number,
  details: string,
): void {
  const verdict = amount <= goal ? 'met' : 'MISSED';
  const [value, limit] = [amount.toFixed(2), `${goal} ${unit}`];
  console.log(`${what.padEnd(58)} ${value} ${unit}   goal <= ${limit}   ${verdict}   ${details}`);
}
