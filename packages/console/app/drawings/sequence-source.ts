export interface Message {
  readonly from: string;
  readonly to: string;
  readonly text: string;
  readonly isDotted: boolean;
  /** `Note over A`: from and to are its ends. */
  readonly isNote: boolean;
}

export interface Sequence {
  readonly actors: readonly { readonly id: string; readonly name: string }[];
  readonly messages: readonly Message[];
}

const ACTOR = /^(?:create\s+)?(?:participant|actor)\s+(.+?)(?:\s+as\s+(.+))?$/i;
const MESSAGE = /^(.+?)\s*(--?>>?|--?x|--?\))\s*[+-]?\s*([^:]+?)\s*:\s*(.*)$/;
const NOTE = /^note\s+(?:over|left of|right of)\s+([^:,]+?)(?:\s*,\s*([^:]+?))?\s*:\s*(.*)$/i;
/** Frames and bars around messages are left out. */
const LEFT_OUT =
  /^(?:%%|autonumber|activate|deactivate|loop|alt|else|opt|par|and|critical|option|break|rect|box|end|destroy|title)\b/i;

/** Reads a sequence diagram of Mermaid. @returns undefined for anything else, and for what it does not understand. */
export function readSequence(source: string): Sequence | undefined {
  const [head, ...lines] = source
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('%%'));
  if (head?.toLowerCase() !== 'sequencediagram') return undefined;
  const names = new Map<string, string>();
  const messages: Message[] = [];
  const know = (id: string): string => {
    if (!names.has(id)) names.set(id, id);
    return id;
  };
  for (const line of lines) {
    const [, id, name] = ACTOR.exec(line) ?? [];
    const [, first, last = first, note] = NOTE.exec(line) ?? [];
    const [, from, arrow, to, text] = MESSAGE.exec(line) ?? [];
    if (id !== undefined) names.set(id, name ?? id);
    else if (first !== undefined && last !== undefined) {
      messages.push({ from: know(first), to: know(last), text: note ?? '', isDotted: false, isNote: true });
    } else if (LEFT_OUT.test(line)) continue;
    else if (from !== undefined && to !== undefined) {
      const isDotted = arrow?.startsWith('--') ?? false;
      messages.push({ from: know(from), to: know(to), text: text ?? '', isDotted, isNote: false });
    } else return undefined;
  }
  if (messages.length === 0) return undefined;
  return { actors: [...names].map(([id, name]) => ({ id, name })), messages };
}
