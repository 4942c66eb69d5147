import { expect, it } from 'vitest';
import { toCsvLine } from './csv.ts';

it('writes numbers without an exponent', () => {
  expect(toCsvLine([1, -0.000001, 9e-7, 0, null, 12.5])).toBe('1,-0.000001,0.000001,0,,12.5\r\n');
});

it('quotes what would end a cell, and doubles quotes', () => {
  expect(toCsvLine(['a,b', 'a"b"', 'a\nb', 'a b', ''])).toBe('"a,b","a""b""","a\nb",a b,\r\n');
});

it.each(['=1+1', '+1', '-1', '@a', ' =1', '|a', '%a'])('disarms the formula %j', (text) => {
  expect(toCsvLine([text])).toBe(`'${text}\r\n`);
});
