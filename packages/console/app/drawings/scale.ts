/** Maps values to positions on an axis, with its tick labels. */
export interface Scale {
  readonly at: (value: number) => number;
  readonly marks: readonly number[];
}

const STEPS = [1, 2, 2.5, 5, 10];
const WANTED_MARKS = 5;

/** An axis that covers every value, and zero where lengths are compared. */
export function getScale(
  values: readonly number[],
  { from, to, withZero }: { readonly from: number; readonly to: number; readonly withZero: boolean },
): Scale {
  const all = withZero || values.length === 0 ? [0, ...values] : values;
  const low = all.reduce((least, value) => Math.min(least, value));
  const high = all.reduce((most, value) => Math.max(most, value));
  const step = getStep(high === low ? Math.abs(high) || 1 : high - low);
  const first = Math.floor(low / step);
  const last = Math.max(Math.ceil(high / step), first + 1);
  const marks = Array.from({ length: last - first + 1 }, (_, at) => round((first + at) * step));
  const span = (last - first) * step;
  return { marks, at: (value) => from + ((value - first * step) / span) * (to - from) };
}

function getStep(span: number): number {
  const power = 10 ** Math.floor(Math.log10(span / WANTED_MARKS));
  return power * (STEPS.find((step) => step * power * WANTED_MARKS >= span) ?? 10);
}

/** Removes the rounding errors of binary fractions. */
function round(value: number): number {
  return Number(value.toPrecision(12));
}

export function shown(value: number): string {
  return value.toLocaleString(undefined, {
    maximumFractionDigits: 6,
    ...(Math.abs(value) >= 10_000 && { notation: 'compact', maximumFractionDigits: 2 }),
  });
}
