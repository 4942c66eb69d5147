/** The middle of a list of numbers; for an even count, the mean of the two middle ones. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** One line of a result: its name, the ratio and the goal. */
export function reportRatio(what: string, ratio: number, goal: number, details: string): void {
  const verdict = ratio <= goal ? 'met' : 'MISSED';
  console.log(`${what.padEnd(58)} ${ratio.toFixed(2)} x   goal <= ${goal} x   ${verdict}   ${details}`);
}

/** One line of a result with a unit. */
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
