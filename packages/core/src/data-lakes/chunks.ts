import { setImmediate as turn } from 'node:timers/promises';
import type { CallOptions } from '../ports/options.ts';
import { distinctWords } from './words.ts';

export interface ChunkLimits {
  /** Tokens of one chunk. */
  readonly tokens: number;
  /** Tokens that a chunk shares with the one before, so that what is said across a border is found too. */
  readonly overlap: number;
}

export const CHUNK_LIMITS: ChunkLimits = { tokens: 400, overlap: 60 };

/**
 * About as many as models make of it: letters of the Latin kind go four to a token, others have one of their own. For
 * measuring out pieces, not for money.
 */
export function countTokens(text: string): number {
  return Math.ceil(countQuarters(text) / 4);
}

/** Quarters of a token: those of several texts add up. */
function countQuarters(text: string): number {
  let quarters = 0;
  for (let index = 0; index < text.length; index++) quarters += text.charCodeAt(index) < 0x250 ? 1 : 4;
  return quarters;
}

/** Cuts before the host is given its turn. */
const AT_ONCE = 100;

/**
 * Cuts a text at the ends of sentences and lines, where it can, into pieces that each make sense to a reader. The same text
 * is always cut in the same places. Pieces without any word are left out. A book takes its time: others get theirs meanwhile.
 * @param most it stops behind so many. Default: no limit.
 */
export async function splitText(
  text: string,
  {
    limits = CHUNK_LIMITS,
    most = Number.POSITIVE_INFINITY,
    signal,
  }: CallOptions & { readonly limits?: ChunkLimits; readonly most?: number } = {},
): Promise<string[]> {
  const chunks: string[] = [];
  let cuts = 0;
  for (const chunk of chunksOf(text, limits)) {
    if (distinctWords(chunk).length > 0) chunks.push(chunk);
    if (chunks.length > most) break;
    cuts += 1;
    if (cuts % AT_ONCE === 0) {
      await turn();
      signal?.throwIfAborted();
    }
  }
  return chunks;
}

function* chunksOf(text: string, { tokens, overlap }: ChunkLimits): Generator<string> {
  let current: string[] = [];
  let size = 0;
  for (const sentence of sentencesOf(text, tokens)) {
    const length = countTokens(sentence);
    if (size + length > tokens && current.length > 0) {
      yield current.join('').trim();
      current = endOf(current, Math.min(overlap, tokens - length));
      size = current.reduce((sum, part) => sum + countTokens(part), 0);
    }
    current.push(sentence);
    size += length;
  }
  yield current.join('').trim();
}

/** The last sentences that fit. */
function endOf(sentences: readonly string[], tokens: number): string[] {
  let left = tokens;
  let from = sentences.length;
  while (from > 0) {
    left -= countTokens(sentences[from - 1] ?? '');
    if (left < 0) break;
    from -= 1;
  }
  return sentences.slice(from);
}

/** Looked for by themselves: an expression for all of a sentence has no room for one of some megabytes. */
const END = /(?:[。！？]|[.!?](?=\s|$))[.!?。！？]*\s*|\n\s*|$/g;

/** Each with the white space behind it. One that is longer than a whole chunk is cut between words, or anywhere. */
function* sentencesOf(text: string, tokens: number): Generator<string> {
  let from = 0;
  for (const { index, 0: end } of text.matchAll(END)) {
    const sentence = text.slice(from, index + end.length);
    from = index + end.length;
    if (sentence === '') continue;
    if (countTokens(sentence) <= tokens) {
      yield sentence;
      continue;
    }
    let part = '';
    let size = 0;
    for (const word of wordsOf(sentence, tokens)) {
      const more = countQuarters(word);
      if (part !== '' && size + more > 4 * tokens) {
        yield part;
        part = '';
        size = 0;
      }
      part += word;
      size += more;
    }
    if (part !== '') yield part;
  }
}

/** Each with the white space behind it, and cut where no reader would call it a word any more. */
function* wordsOf(sentence: string, tokens: number): Generator<string> {
  // A sign takes two tokens at most, so a piece of so many always fits.
  const piece = new RegExp(`.{1,${Math.max(1, Math.floor(tokens / 2))}}\\s*`, 'gsu');
  for (const [word] of sentence.matchAll(/\S{1,40}\s*|\s+/gu)) {
    if (countTokens(word.trimEnd()) <= tokens) yield word;
    else for (const [part] of word.matchAll(piece)) yield part;
  }
}
