export const CHART_KINDS = ['bar', 'line', 'area', 'pie', 'scatter'] as const;

export interface Series {
  readonly name: string;
  /** One value per label; undefined where the point has no value. */
  readonly values: readonly (number | undefined)[];
}

/** The data of a chart. */
export interface ChartData {
  readonly kind: (typeof CHART_KINDS)[number];
  readonly title: string;
  /** The field that names a point. */
  readonly x: string;
  readonly labels: readonly string[];
  readonly series: readonly Series[];
}

/** Parses the output of a tool. @returns undefined for anything that is no chart: the model may have changed it. */
export function readChart(payload: unknown): ChartData | undefined {
  if (!isRecord(payload) || !Array.isArray(payload.data) || !Array.isArray(payload.series)) return undefined;
  const { x, title } = payload;
  const kind = CHART_KINDS.find((one) => one === payload.kind);
  if (kind === undefined || typeof x !== 'string') return undefined;
  const points = payload.data.filter(isRecord);
  const names = payload.series.filter((name) => typeof name === 'string');
  const series = names.map((name) => ({ name, values: points.map((point) => toNumber(point[name])) }));
  if (points.length === 0 || !series.some(({ values }) => values.some((value) => value !== undefined))) {
    return undefined;
  }
  const labels = points.map((point) => String(point[x] ?? ''));
  return { kind, x, labels, series, title: typeof title === 'string' ? title : names.join(', ') };
}

export function toNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
