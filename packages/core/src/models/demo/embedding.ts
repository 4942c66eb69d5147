/** Weight of word parts relative to the word: `knife` and `knives` share some parts. */
const PIECE_WEIGHT = 0.35;
const PIECE_LENGTH = 3;

/**
 * Embeds a text by feature hashing: each word and each trigram of a word adds to one dimension, chosen by its hash;
 * the vector is normalized to length 1. Texts that share words are similar; there is no other semantics.
 */
export function embedText(text: string, dimensions: number): { embedding: number[]; tokens: number } {
  const embedding = new Array<number>(dimensions).fill(0);
  const add = (term: string, weight: number): void => {
    const hash = computeHash(term);
    const place = hash % dimensions;
    embedding[place] = (embedding[place] ?? 0) + (hash & 0x8000_0000 ? -weight : weight);
  };
  const words = splitWords(text);
  for (const word of words) {
    add(word, 1);
    // Marks both ends, so that prefixes match prefixes.
    const marked = `<${word}>`;
    for (let from = 0; from + PIECE_LENGTH <= marked.length; from++) {
      add(marked.slice(from, from + PIECE_LENGTH), PIECE_WEIGHT);
    }
  }
  const length = Math.sqrt(embedding.reduce((sum, value) => sum + value * value, 0)) || 1;
  return { embedding: embedding.map((value) => value / length), tokens: Math.max(1, words.length) };
}

/** Returns the lower-case words of a text in any script, in order. */
export function splitWords(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** FNV-1a over UTF-16 units, 32 bits. @see https://www.rfc-editor.org/rfc/rfc9923 */
function computeHash(word: string): number {
  let hash = 0x811c_9dc5;
  for (let index = 0; index < word.length; index++) {
    hash = Math.imul(hash ^ word.charCodeAt(index), 0x0100_0193);
  }
  return hash >>> 0;
}
