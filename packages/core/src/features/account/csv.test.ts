import { expect, it } from 'vitest';
import { toCsvLine } from './csv.ts';

it('writes numbers without an exponent', () => {
  expect(toCsvLine([1, -0.000001, 9e-7, 0, null, 12.5])).toBe('1,-0.000001,0.000001,0,,12.5\r\n');
});
