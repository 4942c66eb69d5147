import * as z from 'zod';
import { distinctList } from '../../contract/lists.ts';
import { text } from '../../contract/text.ts';

/*
 * Fields that both views of an agent validate in the same way. The maximum lengths keep an agent small enough for the
 * prompt of every turn.
 */

/** Accepted with or without `@`; stored with `@`, in lower case. */
const TRIGGER_WORD = /^@?[\p{L}\p{N}_-]{1,50}$/u;

export const agentName = text({ min: 1, max: 255 }).describe('The name of the agent.');
export const agentDescription = text({ max: 4000 }).describe('What the agent is for.');

export const triggerWords = distinctList(
  z.string().regex(TRIGGER_WORD, 'expected letters, digits, _ or -, with or without a leading @'),
  { max: 20 },
).describe('Words that mention the agent in a message, with or without `@`. Stored in lower case.');

/** Trigger words in their stored form. */
export function toTriggerWords(words: readonly string[]): readonly string[] {
  return [...new Set(words.map((word) => `@${word.replace(/^@/, '').toLowerCase()}`))];
}
