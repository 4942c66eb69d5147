import { graphlib, layout } from '@dagrejs/dagre';
import type { Flowchart, FlowEdge, FlowNode } from './flowchart-source.ts';
import { Lines } from './lines.tsx';
import { LINE, linesOf, widthOf } from './words.ts';

interface Placed {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

interface Route extends Partial<Placed> {
  readonly points: readonly Point[];
}

interface End {
  readonly node: FlowNode;
  readonly placed: Placed;
}

const MARGIN = 12;

export function FlowchartDrawing({ chart, title }: { chart: Flowchart; title: string }) {
  const { width, height, nodes, edges } = place(chart);
  const ends = new Map(nodes.map((one) => [one.node.id, one]));
  return (
    <svg
      class="diagram"
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      role="img"
      aria-label={`${title}: ${spoken(chart)}`}
    >
      <defs>
        <marker
          id="arrow"
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
      {edges.map(({ edge, route }, at) => (
        <Arrow
          key={`${at} ${edge.from} ${edge.to}`}
          edge={edge}
          route={{ ...route, points: trimmed(route.points, ends.get(edge.from), ends.get(edge.to)) }}
        />
      ))}
      {nodes.map(({ node, placed }) => (
        <g key={node.id} class="node">
          <Shape node={node} {...placed} />
          <Lines x={placed.x} y={placed.y} lines={linesOf(node.label)} />
        </g>
      ))}
    </svg>
  );
}

function place({ direction, nodes, edges }: Flowchart) {
  const graph = new graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: direction, marginx: MARGIN, marginy: MARGIN, nodesep: 36, ranksep: 44 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id, label, shape } of nodes) graph.setNode(id, sizeOf(linesOf(label), shape));
  for (const [at, { from, to, label }] of edges.entries()) {
    const lines = linesOf(label);
    const size =
      label === '' ? {} : { width: widthOf(lines) + 12, height: lines.length * LINE, labelpos: 'c' };
    graph.setEdge(from, to, size, String(at));
  }
  layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  return {
    width,
    height,
    nodes: nodes.map((node) => ({ node, placed: graph.node(node.id) as Placed })),
    edges: edges.map((edge, at) => ({
      edge,
      route: graph.edge({ v: edge.from, w: edge.to, name: String(at) }) as unknown as Route,
    })),
  };
}

function sizeOf(lines: readonly string[], shape: FlowNode['shape']) {
  const [width, height] = [widthOf(lines) + 28, lines.length * LINE + 20];
  if (shape === 'diamond') return { width: width * 1.5, height: height * 1.7 };
  return shape === 'circle'
    ? { width: Math.max(width, height), height: Math.max(width, height) }
    : { width, height };
}

/** The layout knows boxes only: lines to other shapes are led on to their edge. */
function trimmed(points: readonly Point[], from: End | undefined, to: End | undefined): readonly Point[] {
  if (from === undefined || to === undefined || points.length < 2) return points;
  const inner = points.slice(1, -1);
  const [second = to.placed] = inner;
  return [edgeOf(from, second), ...inner, edgeOf(to, inner.at(-1) ?? from.placed)];
}

/** Where a line from a point to the middle of a node meets it. */
function edgeOf({ node: { shape }, placed: { x, y, width, height } }: End, towards: Point): Point {
  const [dx, dy] = [towards.x - x, towards.y - y];
  if (dx === 0 && dy === 0) return { x, y };
  const [across, along] = [Math.abs(dx) / (width / 2), Math.abs(dy) / (height / 2)];
  const part =
    shape === 'diamond'
      ? across + along
      : shape === 'circle'
        ? Math.hypot(across, along)
        : Math.max(across, along);
  return { x: x + dx / part, y: y + dy / part };
}

function Shape({ node: { shape }, x, y, width, height }: Placed & { readonly node: FlowNode }) {
  const [left, top, right, bottom] = [x - width / 2, y - height / 2, x + width / 2, y + height / 2];
  if (shape === 'circle') return <circle cx={x} cy={y} r={width / 2} />;
  if (shape === 'diamond')
    return <polygon points={`${x},${top} ${right},${y} ${x},${bottom} ${left},${y}`} />;
  const rx = shape === 'round' ? height / 2 : 4;
  return <rect x={left} y={top} width={width} height={height} rx={rx} />;
}

function Arrow({ edge, route }: { edge: FlowEdge; route: Route }) {
  const kind = `edge${edge.isDotted ? ' dotted' : ''}${edge.isThick ? ' thick' : ''}`;
  const lines = linesOf(edge.label);
  const { x, y, width = 0, height = 0 } = route;
  return (
    <g class={kind}>
      <polyline
        points={route.points.map((point) => `${point.x},${point.y}`).join(' ')}
        {...(edge.hasArrow && { 'marker-end': 'url(#arrow)' })}
      />
      {edge.label !== '' && x !== undefined && y !== undefined && (
        <>
          <rect x={x - width / 2} y={y - height / 2} width={width} height={height} />
          <Lines x={x} y={y} lines={lines} />
        </>
      )}
    </g>
  );
}

/** For whoever does not see it. */
function spoken({ nodes, edges }: Flowchart): string {
  const names = new Map(nodes.map(({ id, label }) => [id, linesOf(label).join(' ')]));
  return edges
    .map(
      ({ from, to, label }) => `${names.get(from)} to ${names.get(to)}${label === '' ? '' : ` (${label})`}`,
    )
    .join('; ');
}
