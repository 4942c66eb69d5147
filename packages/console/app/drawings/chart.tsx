import type { ComponentChildren } from 'preact';
import { type ChartData, toNumber } from './chart-data.ts';
import { Pie } from './pie.tsx';
import { getScale, type Scale, shown } from './scale.ts';

const WIDTH = 640;
const HEIGHT = 320;
const PLOT = { left: 56, right: WIDTH - 12, top: 12, bottom: HEIGHT - 36 };
/** The most labels side by side on an axis, and the width of a letter and of the gap between labels. */
const MAX_NAMES = 12;
const LETTER = 7.5;
const GAP = 12;

/** A chart, and its numbers as a table for screen readers. */
export function Chart({ chart }: { chart: ChartData }) {
  const { title, kind, series } = chart;
  return (
    <figure class="drawing">
      <figcaption>{title}</figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${kind} chart: ${title}`}>
        {kind === 'pie' ? <Pie chart={chart} width={WIDTH} height={HEIGHT} /> : <Plot chart={chart} />}
      </svg>
      {series.length > 1 && kind !== 'pie' && (
        <ul class="legend">
          {series.map(({ name }, at) => (
            <li key={name}>
              <svg class={`series-${at % 6}`} viewBox="0 0 10 10" aria-hidden="true">
                <rect width="10" height="10" rx="2" />
              </svg>
              {name}
            </li>
          ))}
        </ul>
      )}
      <Numbers chart={chart} />
    </figure>
  );
}

function Plot({ chart }: { chart: ChartData }) {
  const { kind, labels, series } = chart;
  const values = series.flatMap((one) => one.values.filter((value) => value !== undefined));
  const y = getScale(values, { from: PLOT.bottom, to: PLOT.top, withZero: kind !== 'scatter' });
  const numbers = labels.map(toNumber);
  const known = numbers.filter((value) => value !== undefined);
  const x =
    kind === 'scatter' && known.length === numbers.length
      ? getScale(known, { from: PLOT.left, to: PLOT.right, withZero: false })
      : undefined;
  const width = (PLOT.right - PLOT.left) / labels.length;
  const centre = (at: number): number => x?.at(numbers[at] ?? 0) ?? PLOT.left + (at + 0.5) * width;
  const longest = Math.max(1, ...labels.map((label) => Math.min(label.length, 14)));
  const fitting = Math.floor((PLOT.right - PLOT.left) / (longest * LETTER + GAP));
  const every = Math.ceil(labels.length / Math.min(MAX_NAMES, fitting));
  return (
    <>
      <Grid y={y} />
      {x === undefined
        ? labels.map(
            (label, at) =>
              at % every === 0 && (
                <Name key={`${at} ${label}`} x={centre(at)}>
                  {label.length > 14 ? `${label.slice(0, 13)}…` : label}
                </Name>
              ),
          )
        : x.marks.map((mark) => (
            <Name key={mark} x={x.at(mark)}>
              {shown(mark)}
            </Name>
          ))}
      {series.map(({ name, values: heights }, at) => (
        <g key={name} class={`series-${at % 6}`}>
          {kind === 'bar'
            ? heights.map((value, point) => {
                if (value === undefined) return null;
                const [top, bottom] = [y.at(Math.max(value, 0)), y.at(Math.min(value, 0))];
                const each = (width * 0.8) / series.length;
                const left = PLOT.left + point * width + width * 0.1 + at * each;
                const size = { x: left, y: top, width: Math.max(each - 1, 0.5), height: bottom - top };
                return <rect key={point} {...size} rx="2" />;
              })
            : getMarks(kind, heights, centre, y)}
        </g>
      ))}
    </>
  );
}

function getMarks(
  kind: ChartData['kind'],
  values: readonly (number | undefined)[],
  centre: (at: number) => number,
  y: Scale,
): ComponentChildren {
  const places = values.flatMap((value, at) =>
    value === undefined ? [] : [{ x: centre(at), y: y.at(value) }],
  );
  const line = places.map((place) => `${place.x},${place.y}`).join(' ');
  const [first, last] = [places[0], places.at(-1)];
  const ground = y.at(0);
  return (
    <>
      {kind === 'area' && first !== undefined && last !== undefined && (
        <polygon class="below" points={`${first.x},${ground} ${line} ${last.x},${ground}`} />
      )}
      {kind !== 'scatter' && <polyline points={line} />}
      {places.length <= 60 &&
        places.map((place) => (
          <circle key={`${place.x} ${place.y}`} cx={place.x} cy={place.y} r={kind === 'scatter' ? 5 : 3} />
        ))}
    </>
  );
}

function Grid({ y }: { y: Scale }) {
  return (
    <>
      {y.marks.map((mark) => (
        <g key={mark} class="grid">
          <line x1={PLOT.left} x2={PLOT.right} y1={y.at(mark)} y2={y.at(mark)} />
          <text x={PLOT.left - 8} y={y.at(mark) + 4} text-anchor="end">
            {shown(mark)}
          </text>
        </g>
      ))}
    </>
  );
}

function Name({ x, children }: { x: number; children: ComponentChildren }) {
  return (
    <text x={x} y={PLOT.bottom + 20} text-anchor="middle">
      {children}
    </text>
  );
}

function Numbers({ chart: { title, x, labels, series } }: { chart: ChartData }) {
  return (
    <details>
      <summary>Numbers</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls takes the focus. */}
      <section class="scroll" aria-label={`Numbers of ${title}`} tabIndex={0}>
        <table>
          <thead>
            <tr>
              {[x, ...series.map(({ name }) => name)].map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {labels.map((label, at) => (
              <tr key={`${at} ${label}`}>
                <th scope="row">{label}</th>
                {series.map(({ name, values }) => (
                  <td key={name} class="number">
                    {values[at]?.toLocaleString() ?? '–'}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </details>
  );
}
