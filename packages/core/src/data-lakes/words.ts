const LONGEST_WORD = 64;

/** What a text can be found by, word for word: distinct, lower case, in any script. */
export function distinctWords(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set(words.map((word) => word.slice(0, LONGEST_WORD)))];
}
