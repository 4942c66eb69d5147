import type { ModelContent, ModelMessage } from '@questline/core';
import { unsupported } from './documents.ts';

/** One side's turn: neighbouring messages of one role put together, for protocols that want the sides to alternate. */
export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: readonly ModelContent[];
}

/** What the system messages say, wherever they stand, and the turns between. */
export function conversation(
  provider: string,
  messages: readonly ModelMessage[],
): { readonly system: readonly string[]; readonly turns: readonly Turn[] } {
  const system: string[] = [];
  const turns: { role: 'user' | 'assistant'; content: ModelContent[] }[] = [];
  for (const { role, content } of messages) {
    if (role === 'system') {
      for (const piece of content) {
        if (piece.type !== 'text') throw unsupported(provider, `${piece.type} in a system message`);
        if (piece.text !== '') system.push(piece.text);
      }
    } else if (turns.at(-1)?.role === role) {
      turns.at(-1)?.content.push(...content);
    } else {
      turns.push({ role, content: [...content] });
    }
  }
  return { system, turns };
}

/** The system text for a model that cannot be held to JSON by its protocol. */
export function jsonInstruction(schema?: Readonly<Record<string, unknown>>): string {
  const base = 'Answer with one JSON object and nothing else: no prose, no code fence.';
  return schema === undefined ? base : `${base} It must follow this JSON Schema: ${JSON.stringify(schema)}`;
}
