const highSurrogate = /[\uD800-\uDBFF]/;

/** Up to this length, as most pieces of an answer have, a look at each character is faster than a regular expression. */
const SHORT = 12;

/** Counts code points like JSON Schema: a surrogate pair counts as one, a lone surrogate too. */
export function countCharacters(text: string): number {
  let count = text.length;
  // Fast path: most texts contain no surrogates.
  if (count > SHORT && !highSurrogate.test(text)) return count;
  for (let index = count - 2; index >= 0; index--) {
    if ((text.charCodeAt(index) & 0xfc00) !== 0xd800) continue;
    if ((text.charCodeAt(index + 1) & 0xfc00) === 0xdc00) count--;
  }
  return count;
}
