import { LINE } from './words.ts';

/** Lines of text around a middle. */
export function Lines({ x, y, lines }: { x: number; y: number; lines: readonly string[] }) {
  return (
    <text x={x} y={y - ((lines.length - 1) * LINE) / 2 + 5} text-anchor="middle">
      {lines.map((line, at) => (
        <tspan key={`${at} ${line}`} x={x} dy={at === 0 ? 0 : LINE}>
          {line}
        </tspan>
      ))}
    </text>
  );
}
