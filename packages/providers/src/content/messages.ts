import type { ModelContent, ModelMessage } from '@questline/core/ports';
import { unsupported } from './documents.ts';

/** A turn: adjacent messages of one role, joined for protocols that require alternating roles. */
export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: readonly ModelContent[];
  /** Indexes of content parts with a cache breakpoint. */
  readonly breakpoints: readonly number[];
}

/** Placed before an answer at the start of a conversation: the protocols require a user message first. */
const LEFT_OUT = '(The beginning of this conversation is left out.)';

/** Separates system messages, at any position, from the turns. */
export function conversation(
  provider: string,
  messages: readonly ModelMessage[],
): { readonly system: readonly string[]; readonly turns: readonly Turn[] } {
  const system: string[] = [];
  const turns: { role: 'user' | 'assistant'; content: ModelContent[]; breakpoints: number[] }[] = [];
  for (const { role, content, cacheBreakpoint } of messages) {
    if (role === 'system') {
      for (const piece of content) {
        if (piece.type !== 'text') throw unsupported(provider, `${piece.type} in a system message`);
        if (piece.text !== '') system.push(piece.text);
      }
      continue;
    }
    if (turns.length === 0 && role === 'assistant') {
      turns.push({ role: 'user', content: [{ type: 'text', text: LEFT_OUT }], breakpoints: [] });
    }
    let turn = turns.at(-1);
    if (turn?.role !== role) {
      turn = { role, content: [], breakpoints: [] };
      turns.push(turn);
    }
    turn.content.push(...content);
    if (cacheBreakpoint === true) turn.breakpoints.push(turn.content.length - 1);
  }
  return { system, turns };
}

/** The system text for a model without a JSON mode. */
export function jsonInstruction(schema?: Readonly<Record<string, unknown>>): string {
  const base = 'Answer with one JSON object and nothing else: no prose, no code fence.';
  return schema === undefined ? base : `${base} It must follow this JSON Schema: ${JSON.stringify(schema)}`;
}
