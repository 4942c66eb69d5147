import { Lines } from './lines.tsx';
import type { Message, Sequence } from './sequence-source.ts';
import { LINE, linesOf, widthOf } from './words.ts';

const HEAD = 40;
const GAP = 28;

export function SequenceDrawing({ sequence, title }: { sequence: Sequence; title: string }) {
  const { actors, messages } = sequence;
  const longest = (texts: readonly string[]): number =>
    Math.max(...texts.map((text) => widthOf(linesOf(text))));
  const lane = Math.max(
    120,
    longest(actors.map(({ name }) => name)) + 40,
    longest(messages.map(({ text }) => text)) + 28,
  );
  const centre = new Map(actors.map(({ id }, at) => [id, (at + 0.5) * lane]));
  let y = HEAD + 8;
  const rows = messages.map((message) => {
    const lines = linesOf(message.text);
    y += lines.length * LINE + GAP;
    return { message, lines, y };
  });
  const [width, height] = [lane * actors.length + lane / 2, y + 24];
  return (
    <svg
      class="diagram"
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      role="img"
      aria-label={`${title}: ${messages.map(({ from, to, text }) => `${from} to ${to}: ${text}`).join('; ')}`}
    >
      <defs>
        <marker
          id="sent"
          viewBox="0 0 10 10"
          refX="9"
          refY="5"
          markerWidth="8"
          markerHeight="8"
          orient="auto"
        >
          <path d="M 0 0 L 10 5 L 0 10 z" />
        </marker>
      </defs>
      {actors.map(({ id, name }) => {
        const x = centre.get(id) ?? 0;
        return (
          <g key={id} class="node">
            <line class="life" x1={x} x2={x} y1={HEAD} y2={height} />
            <rect x={x - lane / 2 + 10} y={4} width={lane - 20} height={HEAD - 4} rx="4" />
            <Lines x={x} y={HEAD / 2 + 2} lines={[name]} />
          </g>
        );
      })}
      {rows.map(({ message, lines, y: at }) => (
        <Row
          key={at}
          message={message}
          lines={lines}
          y={at}
          from={centre.get(message.from) ?? 0}
          to={centre.get(message.to) ?? 0}
          lane={lane}
        />
      ))}
    </svg>
  );
}

interface RowProps {
  readonly message: Message;
  readonly lines: readonly string[];
  readonly y: number;
  readonly from: number;
  readonly to: number;
  readonly lane: number;
}

function Row({ message: { isDotted, isNote }, lines, y, from, to, lane }: RowProps) {
  const tall = lines.length * LINE;
  const middle = (from + to) / 2;
  if (isNote) {
    const wide = Math.abs(to - from) + lane * 0.8;
    return (
      <g class="note">
        <rect x={middle - wide / 2} y={y - tall - 4} width={wide} height={tall + 12} rx="3" />
        <Lines x={middle} y={y - tall / 2 + 2} lines={lines} />
      </g>
    );
  }
  const points =
    from === to
      ? `${from},${y} ${from + 36},${y} ${from + 36},${y + 14} ${from},${y + 14}`
      : `${from},${y} ${to},${y}`;
  return (
    <g class={isDotted ? 'edge dotted' : 'edge'}>
      <Lines x={from === to ? from + lane / 4 : middle} y={y - 6 - tall / 2} lines={lines} />
      <polyline points={points} marker-end="url(#sent)" />
    </g>
  );
}
