/*
 * How alike two texts are, by the words they share: quick, the same on every machine, and without another model. Words
 * are compared by their beginnings, so that an inflected one still counts.
 */

/** So much of a word counts: "gardens" and "gardening" agree. */
const STEM = 5;
/** Scripts that put no spaces between words are compared in pairs of characters. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;
const WORD = /[\p{L}\p{M}\p{N}]+/gu;

/** Words that say nothing about what a text is about. */
const EMPTY = new Set(
  (
    'a an and any are as at be been but by can could did do does for from had has have he her his how i if in into is it ' +
    'its just me my no not of on or our out she should so some than that the their them then there these they this to us ' +
    'user users was we were what when where which who why will with would you your'
  ).split(' '),
);

/** What a text is about: its words, once each, in a form that can be compared. */
export function wordsOf(text: string): ReadonlySet<string> {
  const words = new Set<string>();
  for (const [word] of text.normalize('NFKC').toLowerCase().matchAll(WORD)) {
    if (UNSPACED.test(word)) for (const pair of pairsOf(word)) words.add(pair);
    else if (!EMPTY.has(word) && (word.length > 1 || /\p{N}/u.test(word))) {
      words.add([...word.replace(/(?<=.{3})s$/, '')].slice(0, STEM).join(''));
    }
  }
  return words;
}

/** Of the words in either text, the part that stands in both. 0..1. */
export function likeness(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let shared = 0;
  for (const word of one) if (other.has(word)) shared += 1;
  const all = one.size + other.size - shared;
  return all === 0 ? 0 : shared / all;
}

function pairsOf(word: string): string[] {
  const characters = [...word];
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}
