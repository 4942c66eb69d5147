import { setImmediate as turn } from 'node:timers/promises';
import type { CallOptions } from '../../ports/options.ts';
import { distinctWords } from './words.ts';

export interface ChunkLimits {
  /** Maximum tokens of one chunk. */
  readonly tokens: number;
  /** Tokens that a chunk shares with the previous one, so that text across a border is found too. */
  readonly overlap: number;
}

export const CHUNK_LIMITS: ChunkLimits = { tokens: 400, overlap: 60 };

/**
 * Estimates the token count: four Latin letters per token, one token per other letter. For splitting, not for
 * money.
 */
export function countTokens(text: string): number {
  return Math.ceil(countQuarters(text) / 4);
}

/** In quarters of a token, which add up across texts. */
function countQuarters(text: string): number {
  let quarters = 0;
  for (let index = 0; index < text.length; index++) quarters += text.charCodeAt(index) < 0x250 ? 1 : 4;
  return quarters;
}

/** Cuts between two yields to the event loop. */
const AT_ONCE = 100;

/**
 * Splits a text at the ends of sentences and lines, if possible, into readable chunks. Deterministic. Omits chunks
 * without any word. Yields to the event loop during long texts.
 * @param most stops after this number of chunks. Default: no limit.
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
  for (const chunk of getChunks(text, limits)) {
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

function* getChunks(text: string, { tokens, overlap }: ChunkLimits): Generator<string> {
  let current: string[] = [];
  let size = 0;
  for (const sentence of getSentences(text, tokens)) {
    const length = countTokens(sentence);
    if (size + length > tokens && current.length > 0) {
      yield current.join('').trim();
      current = getEnd(current, Math.min(overlap, tokens - length));
      size = current.reduce((sum, part) => sum + countTokens(part), 0);
    }
    current.push(sentence);
    size += length;
  }
  yield current.join('').trim();
}

/** Returns the last sentences that fit. */
function getEnd(sentences: readonly string[], tokens: number): string[] {
  let left = tokens;
  let from = sentences.length;
  while (from > 0) {
    left -= countTokens(sentences[from - 1] ?? '');
    if (left < 0) break;
    from -= 1;
  }
  return sentences.slice(from);
}

/** Separate expressions: one for a whole sentence overflows on a sentence of several megabytes. */
const END = /(?:[。！？]|[.!?](?=\s|$))[.!?。！？]*\s*|\n\s*|$/g;

/** Each with the white space after it. A sentence longer than a chunk is cut between words, or anywhere. */
function* getSentences(text: string, tokens: number): Generator<string> {
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
    for (const word of splitWords(sentence, tokens)) {
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

/** Each with the white space after it; very long words are cut. */
function* splitWords(sentence: string, tokens: number): Generator<string> {
  // A character takes two tokens at most, so such a piece always fits.
  const piece = new RegExp(`.{1,${Math.max(1, Math.floor(tokens / 2))}}\\s*`, 'gsu');
  for (const [word] of sentence.matchAll(/\S{1,40}\s*|\s+/gu)) {
    if (countTokens(word.trimEnd()) <= tokens) yield word;
    else for (const [part] of word.matchAll(piece)) yield part;
  }
}
