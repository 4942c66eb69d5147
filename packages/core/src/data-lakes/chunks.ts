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
  let quarters = 0;
  for (let index = 0; index < text.length; index++) quarters += text.charCodeAt(index) < 0x250 ? 1 : 4;
  return Math.ceil(quarters / 4);
}

/**
 * Cuts a text at the ends of sentences and lines, where it can, into pieces that each make sense to a reader. The same text
 * is always cut in the same places. Pieces without any word are left out.
 */
export function splitText(text: string, { tokens, overlap }: ChunkLimits = CHUNK_LIMITS): string[] {
  const chunks: string[] = [];
  let current: string[] = [];
  let size = 0;
  const close = (): void => {
    const chunk = current.join('').trim();
    if (distinctWords(chunk).length > 0) chunks.push(chunk);
  };
  for (const sentence of sentencesOf(text, tokens)) {
    const length = countTokens(sentence);
    if (size + length > tokens && current.length > 0) {
      close();
      current = endOf(current, Math.min(overlap, tokens - length));
      size = current.reduce((sum, part) => sum + countTokens(part), 0);
    }
    current.push(sentence);
    size += length;
  }
  close();
  return chunks;
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

/** Each with the white space behind it. One that is longer than a whole chunk is cut between words, or anywhere. */
function* sentencesOf(text: string, tokens: number): Generator<string> {
  for (const [sentence] of text.matchAll(/(?:[^\n.!?。！？]|[.!?](?=\S))*(?:[.!?。！？]+\s*|\n\s*|$)/g)) {
    if (sentence === '') continue;
    if (countTokens(sentence) <= tokens) {
      yield sentence;
      continue;
    }
    let part = '';
    for (const word of wordsOf(sentence, tokens)) {
      if (part !== '' && countTokens(part + word) > tokens) {
        yield part;
        part = '';
      }
      part += word;
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
