import { expect, it } from 'vitest';
import { distinctWords } from './words.ts';

it('finds the words of any script, once and without their case', () => {
  expect(distinctWords('Ein Apfel, ein Äpfel-2!')).toEqual(['ein', 'apfel', 'äpfel', '2']);
  expect(distinctWords('东京 很大。')).toEqual(['东京', '很大']);
  expect(distinctWords(' ?! ')).toEqual([]);
});

it('cuts words at 64 characters', () => {
  expect(distinctWords(`${'x'.repeat(65)} ${'x'.repeat(64)}`)).toEqual(['x'.repeat(64)]);
});
