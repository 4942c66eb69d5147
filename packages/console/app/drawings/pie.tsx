import type { ChartData } from './chart-data.ts';
import { shown } from './scale.ts';

interface PieProps {
  readonly chart: ChartData;
  readonly width: number;
  readonly height: number;
}

/** The first series as slices with a legend. Values of zero or less have no slice. */
export function Pie({ chart: { labels, series }, width, height }: PieProps) {
  const values = labels.map((_, at) => Math.max(series[0]?.values[at] ?? 0, 0));
  const sum = values.reduce((total, value) => total + value, 0);
  const radius = height / 2 - 16;
  const [cx, cy] = [radius + 24, height / 2];
  let turned = 0;
  const slices = values.map((value, at) => {
    const from = turned;
    turned += sum === 0 ? 0 : value / sum;
    return { at, value, from, to: turned, label: labels[at] ?? '' };
  });
  const gap = Math.min(24, (height - 24) / Math.max(labels.length, 1));
  return (
    <>
      {slices
        .filter(({ value }) => value > 0)
        .map(({ at, from, to }) => (
          <g key={at} class={`series-${at % 6}`}>
            {to - from > 0.9999 ? (
              <circle cx={cx} cy={cy} r={radius} />
            ) : (
              <path class="slice" d={drawSlice(cx, cy, radius, from, to)} />
            )}
          </g>
        ))}
      {slices.map(({ at, value, label }) => (
        <g key={at} class={`series-${at % 6}`}>
          <rect x={cx + radius + 32} y={16 + at * gap} width="12" height="12" rx="2" />
          <text x={cx + radius + 52} y={27 + at * gap}>
            {label.length > 24 ? `${label.slice(0, 23)}…` : label}
          </text>
          <text x={width - 12} y={27 + at * gap} text-anchor="end">
            {shown(value)}
          </text>
        </g>
      ))}
    </>
  );
}

/** A slice; angles are fractions of a turn, clockwise from the top. */
function drawSlice(cx: number, cy: number, radius: number, from: number, to: number): string {
  const place = (turn: number): string => {
    const angle = turn * 2 * Math.PI - Math.PI / 2;
    return `${(cx + radius * Math.cos(angle)).toFixed(2)} ${(cy + radius * Math.sin(angle)).toFixed(2)}`;
  };
  return `M ${cx} ${cy} L ${place(from)} A ${radius} ${radius} 0 ${to - from > 0.5 ? 1 : 0} 1 ${place(to)} Z`;
}
