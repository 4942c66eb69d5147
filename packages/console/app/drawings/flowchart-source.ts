export type NodeShape = 'box' | 'round' | 'circle' | 'diamond';

export interface FlowNode {
  readonly id: string;
  readonly label: string;
  readonly shape: NodeShape;
}

export interface FlowEdge {
  readonly from: string;
  readonly to: string;
  readonly label: string;
  readonly isDotted: boolean;
  readonly isThick: boolean;
  readonly hasArrow: boolean;
}

export interface Flowchart {
  readonly direction: 'TB' | 'BT' | 'LR' | 'RL';
  readonly nodes: readonly FlowNode[];
  readonly edges: readonly FlowEdge[];
}

const HEAD = /^(?:graph|flowchart)\s+(TB|TD|BT|LR|RL)\b/i;
/** How it looks and what a click does is no part of the drawing; frames around nodes are left out. */
const LEFT_OUT =
  /^(?:%%|classDef\b|class\b|style\b|linkStyle\b|click\b|subgraph\b|end$|direction\b|accTitle|accDescr)/;
const NODE = /^([\p{L}\p{N}_.-]*[\p{L}\p{N}_])(?:\s*:::\s*\w+)?/u;
/** Longer signs first. */
const BRACKETS: readonly (readonly [string, string, NodeShape])[] = [
  ['(((', ')))', 'circle'],
  ['((', '))', 'circle'],
  ['([', '])', 'round'],
  ['[[', ']]', 'box'],
  ['[(', ')]', 'round'],
  ['{{', '}}', 'diamond'],
  ['[/', '/]', 'box'],
  ['[\\', '\\]', 'box'],
  ['(', ')', 'round'],
  ['[', ']', 'box'],
  ['{', '}', 'diamond'],
  ['>', ']', 'box'],
];
/** `-->`, `---`, `-.->`, `==>`, with a label in the middle or behind: `-- no -->`, `-->|no|`. */
const EDGE =
  /^\s*<?(?:(--|==|-\.)\s+([^|]*?)\s+(--+[>xo]?|==+[>xo]?|\.-+[>xo]?)|(-{2,}[>xo]?|={2,}[>xo]?|-\.+-[>xo]?))(?:\s*\|([^|]*)\|)?\s*/;

/** Reads a flowchart of Mermaid. @returns undefined for anything else, and for what it does not understand. */
export function readFlowchart(source: string): Flowchart | undefined {
  const [head = '', ...lines] = source
    .split(/\n|;/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('%%'));
  const found = HEAD.exec(head)?.[1]?.toUpperCase();
  if (found === undefined) return undefined;
  const direction = found === 'TD' ? 'TB' : (found as Flowchart['direction']);
  const nodes = new Map<string, FlowNode>();
  const edges: FlowEdge[] = [];
  for (const line of [head.replace(HEAD, '').trim(), ...lines]) {
    if (line === '' || LEFT_OUT.test(line)) continue;
    if (!readStatement(line, nodes, edges)) return undefined;
  }
  return nodes.size === 0 ? undefined : { direction, nodes: [...nodes.values()], edges };
}

/** `A[one] & B --> C -- no --> D` */
function readStatement(line: string, nodes: Map<string, FlowNode>, edges: FlowEdge[]): boolean {
  let group = readGroup(line, nodes);
  while (group !== undefined && group.rest !== '') {
    const edge = EDGE.exec(group.rest);
    if (edge === null) return false;
    const [whole, opening = '', inner, closing, plain = '', behind] = edge;
    const sign = `${opening}${closing ?? plain}`;
    const next = readGroup(group.rest.slice(whole.length), nodes);
    if (next === undefined) return false;
    for (const from of group.ids) {
      for (const to of next.ids) {
        edges.push({
          from,
          to,
          label: (inner ?? behind ?? '').trim(),
          isDotted: sign.includes('.'),
          isThick: sign.includes('='),
          hasArrow: /[>xo]$/.test(sign),
        });
      }
    }
    group = next;
  }
  return group !== undefined;
}

function readGroup(
  text: string,
  nodes: Map<string, FlowNode>,
): { readonly ids: readonly string[]; readonly rest: string } | undefined {
  const ids: string[] = [];
  let rest = text;
  for (;;) {
    const node = readNode(rest.trimStart());
    if (node === undefined) return undefined;
    // Named again without a label, it stays what it was.
    if (!nodes.has(node.id) || node.label !== undefined) {
      nodes.set(node.id, { id: node.id, label: node.label ?? node.id, shape: node.shape });
    }
    ids.push(node.id);
    rest = node.rest.trimStart();
    if (!rest.startsWith('&')) return { ids, rest };
    rest = rest.slice(1);
  }
}

function readNode(text: string) {
  const [whole = '', name] = NODE.exec(text) ?? [];
  if (name === undefined) return undefined;
  const id = name.replace(/-+$/, '');
  const behind = id === name ? text.slice(whole.length) : text.slice(id.length);
  for (const [open, close, shape] of BRACKETS) {
    if (!behind.startsWith(open)) continue;
    const isQuoted = behind[open.length] === '"';
    const from = isQuoted ? behind.indexOf('"', open.length + 1) : open.length;
    const end = from < 0 ? -1 : behind.indexOf(close, from);
    if (end < 0) return undefined;
    const rest = behind.slice(end + close.length).replace(/^:::\w+/, '');
    return { id, label: behind.slice(open.length, end), shape, rest };
  }
  return { id, label: undefined, shape: 'box' as const, rest: behind };
}
