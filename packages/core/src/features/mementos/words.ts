/*
 * Similarity of two texts by their common words: fast, deterministic, and without a model. Compares the beginnings of
 * words, so that inflected forms match.
 */

/** The compared prefix of a word: "gardens" and "gardening" match. */
const STEM = 5;
/** Scripts without spaces between words are compared in pairs of characters. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;
const WORD = /[\p{L}\p{M}\p{N}]+/gu;

/** Stop words. */
const EMPTY = new Set(
  (
    'a an and any are as at be been but by can could did do does for from had has have he her his how i if in into is it ' +
    'its just me my no not of on or our out she should so some than that the their them then there these they this to us ' +
    'user users was we were what when where which who why will with would you your'
  ).split(' '),
);

/** Returns the distinct words of a text in normalized form. */
export function splitWords(text: string): ReadonlySet<string> {
  const words = new Set<string>();
  for (const [word] of text.normalize('NFKC').toLowerCase().matchAll(WORD)) {
    if (UNSPACED.test(word)) for (const pair of getPairs(word)) words.add(pair);
    else if (!EMPTY.has(word) && (word.length > 1 || /\p{N}/u.test(word))) {
      words.add([...word.replace(/(?<=.{3})s$/, '')].slice(0, STEM).join(''));
    }
  }
  return words;
}

/** The share of words that both texts contain (Jaccard index), 0 to 1. */
export function likeness(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let shared = 0;
  for (const word of one) if (other.has(word)) shared += 1;
  const all = one.size + other.size - shared;
  return all === 0 ? 0 : shared / all;
}

function getPairs(word: string): string[] {
  const characters = [...word];
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}
