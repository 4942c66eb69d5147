/** One sample of the server under load. */
export interface Point {
  readonly minutes: number;
  readonly heap: number;
  readonly rss: number;
}

const MB = 2 ** 20;

/** Growth in MB per minute: the slope of a linear regression over the second half of the samples. */
export function slope(points: readonly Point[], what: 'heap' | 'rss'): number {
  const half = points.slice(points.length >> 1);
  const mean = (of: (point: Point) => number): number =>
    half.reduce((sum, point) => sum + of(point), 0) / half.length;
  const middle = mean(({ minutes }) => minutes);
  const level = mean((point) => point[what]);
  const rise = mean((point) => (point.minutes - middle) * (point[what] - level));
  return rise / mean(({ minutes }) => (minutes - middle) ** 2) / MB;
}

export function inMB(bytes: number): string {
  return `${(bytes / MB).toFixed(1)} MB`;
}

/** Prints each figure beside its bound, and records violations. */
export function createReport() {
  let isBroken = false;
  return {
    get isBroken() {
      return isBroken;
    },
    figure(what: string, value: number, atMost: number, unit = '', details = ''): void {
      const isMet = value <= atMost;
      if (!isMet) isBroken = true;
      const shown = Number.isInteger(value) ? String(value) : value.toFixed(3);
      const bound = `at most ${atMost}${unit}`;
      console.log(
        `${what.padEnd(46)} ${shown}${unit}`.padEnd(68),
        bound.padEnd(24),
        isMet ? 'met' : 'BROKEN',
        details,
      );
    },
    list(lines: readonly string[], most = 10): void {
      for (const line of lines.slice(0, most)) console.log(`    ${line}`);
      if (lines.length > most) console.log(`    and ${lines.length - most} more`);
    },
  };
}
