import fc from 'fast-check';
import { expect, it } from 'vitest';
import { countCharacters } from './characters.ts';

const EMOJI = '\u{1f600}';
const [HIGH, LOW] = ['\ud83d', '\ude00'];

it.each([
  ['no character', '', 0],
  ['each letter', 'abc', 3],
  ['a surrogate pair once', `a${EMOJI}b`, 3],
  ['a surrogate pair at both ends', `${EMOJI}a${EMOJI}`, 3],
  ['a surrogate pair with other halves', '\u{1f601}\u{1f400}', 2],
  ['lone surrogates', `${HIGH}a${LOW}${LOW}${HIGH}`, 5],
  ['letters of a longer text', 'x'.repeat(1000), 1000],
  ['surrogate pairs of a longer text', EMOJI.repeat(100), 100],
])('counts %s', (_what, text, count) => {
  expect(countCharacters(text)).toBe(count);
});

it('counts as many characters as an iteration of the text has', () => {
  const unit = fc.constantFrom('a', 'é', '\u2028', EMOJI, HIGH, LOW);
  const text = fc.array(unit, { maxLength: 30 }).map((units) => units.join(''));
  fc.assert(
    fc.property(text, (one) => {
      expect(countCharacters(one)).toBe([...one].length);
    }),
  );
});
