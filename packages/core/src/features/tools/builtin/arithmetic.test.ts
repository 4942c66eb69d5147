import { describe, expect, it } from 'vitest';
import { evaluate } from './arithmetic.ts';

describe('evaluate', () => {
  it.each<[string, number]>([
    ['1+2*3', 7],
    ['(1+2)*3', 9],
    ['10-3-2', 5],
    ['24/4/2', 3],
    ['17%5*2', 4],
    ['2^3^2', 512],
    ['-2^2', -4],
    ['2^-1', 0.5],
    ['--3', 3],
    ['+3', 3],
    ['-+3', -3],
    ['2*-3', -6],
    [' 1 +\t2\n', 3],
    ['1.5e2', 150],
    ['1E-2', 0.01],
    ['.5+5.', 5.5],
    ['.25e1', 2.5],
    ['pi', Math.PI],
    ['E', Math.E],
    ['abs(-2)', 2],
    ['ceil(1.2)', 2],
    ['floor(1.8)', 1],
    ['round(1.5)', 2],
    ['sqrt(16)', 4],
    ['exp(0)', 1],
    ['ln(e)', 1],
    ['LOG(1000)', 3],
    ['sin(0)', 0],
    ['cos(0)', 1],
    ['tan(0)', 0],
    ['sqrt(abs(-9))+1', 4],
  ])('of %s is %d', (expression, value) => {
    expect(evaluate(expression)).toBeCloseTo(value, 10);
  });

  it.each([
    ['', 'ends too early'],
    ['1+', 'ends too early'],
    ['(1', 'a parenthesis is not closed'],
    ['sqrt(1', 'a parenthesis is not closed'],
    ['1)', "')' is not expected there"],
    ['2e', "'e' is not expected there"],
    ['1 2', "'2' is not expected there"],
    ['*1', "'*' is not understood"],
    ['sqrt 4', "'sqrt' is not understood"],
    ['constructor(1)', "'constructor' is not understood"],
    ['toString', "'toString' is not understood"],
    ['1 & 2', "' ' is not understood"],
    ['$', "'$' is not understood"],
    ['1/0', 'the result is no finite number'],
    ['0/0', 'the result is no finite number'],
    ['sqrt(-1)', 'the result is no finite number'],
  ])('refuses %j: %s', (expression, message) => {
    expect(() => evaluate(expression)).toThrow(new RegExp(`^${message.replace(/[$()*]/g, '\\$&')}$`));
  });

  it('accepts 500 characters, and 50 levels', () => {
    expect(evaluate('1'.padEnd(500))).toBe(1);
    expect(() => evaluate('1'.padEnd(501))).toThrow('longer than 500 characters');
    const nested = (levels: number) => `${'('.repeat(levels)}1${')'.repeat(levels)}`;
    expect(evaluate(nested(49))).toBe(1);
    expect(() => evaluate(nested(50))).toThrow('nested too deeply');
    expect(evaluate(`${nested(49)}+${nested(49)}*${nested(49)}`)).toBe(2);
    expect(() => evaluate(`${'-'.repeat(50)}1`)).toThrow('nested too deeply');
  });
});
