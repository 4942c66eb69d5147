import * as z from 'zod';
import { text } from '../http/text.ts';

/*
 * What both views of an agent ask of the same field. The lengths keep an agent small enough to be told to a model with
 * every turn.
 */

/** With or without its `@`; kept with it, in lower case. */
const TRIGGER_WORD = /^@?[\p{L}\p{N}_-]{1,50}$/u;

export const agentName = text({ min: 1, max: 255 });
export const agentDescription = text({ max: 4000 });

export const triggerWords = z
  .array(z.string().regex(TRIGGER_WORD, 'expected letters, digits, _ or -, with or without a leading @'))
  .max(20);

/** As they are kept. */
export function toTriggerWords(words: readonly string[]): readonly string[] {
  return [...new Set(words.map((word) => `@${word.replace(/^@/, '').toLowerCase()}`))];
}
