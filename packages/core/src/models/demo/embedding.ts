/** What pieces of a word count beside the word itself: `knife` and `knives` have some in common, and no more than that. */
const PIECE_WEIGHT = 0.35;
const PIECE_LENGTH = 3;

/**
 * A text as the words in it, and as the pieces of three characters in those: each adds to one place of the vector, chosen
 * by its hash, and the whole is scaled to length 1. So texts that share words are near each other, and nothing else is
 * claimed.
 */
export function embedText(text: string, dimensions: number): { embedding: number[]; tokens: number } {
  const embedding = new Array<number>(dimensions).fill(0);
  const add = (term: string, weight: number): void => {
    const hash = hashOf(term);
    const place = hash % dimensions;
    embedding[place] = (embedding[place] ?? 0) + (hash & 0x8000_0000 ? -weight : weight);
  };
  const words = wordsOf(text);
  for (const word of words) {
    add(word, 1);
    // Marked at both ends, so that beginnings meet beginnings.
    const marked = `<${word}>`;
    for (let from = 0; from + PIECE_LENGTH <= marked.length; from++) {
      add(marked.slice(from, from + PIECE_LENGTH), PIECE_WEIGHT);
    }
  }
  const length = Math.sqrt(embedding.reduce((sum, value) => sum + value * value, 0)) || 1;
  return { embedding: embedding.map((value) => value / length), tokens: Math.max(1, words.length) };
}

/** Lower-case words of a text in any script, in order. */
export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** FNV-1a over UTF-16 units, 32 bits. @see https://www.rfc-editor.org/rfc/rfc9923 */
export function hashOf(word: string): number {
  let hash = 0x811c_9dc5;
  for (let index = 0; index < word.length; index++) {
    hash = Math.imul(hash ^ word.charCodeAt(index), 0x0100_0193);
  }
  return hash >>> 0;
}
