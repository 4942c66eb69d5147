const MAX_WORD = 64;

/** Returns the search words of a text: distinct, lower case, in any script. */
export function distinctWords(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set(words.map((word) => word.slice(0, MAX_WORD)))];
}
