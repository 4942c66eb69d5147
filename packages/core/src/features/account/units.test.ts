import { expect, it } from 'vitest';
import type { Usage } from '../../ports/ledger.ts';
import { toUnits } from './units.ts';

it('keeps the name of a unit that the API does not know', () => {
  const stored = { input: 1, pixels: 2 } as Usage;
  expect(toUnits(stored)).toEqual({ input_tokens: 1, pixels: 2 });
});
