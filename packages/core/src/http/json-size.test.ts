import { describe, expect, it } from 'vitest';
import { holdsMoreValues } from './json-size.ts';

describe('the number of values of JSON text', () => {
  const BACKSLASH = '\\';

  it.each([
    ['[]', 2],
    ['{}', 2],
    ['[1,2,3]', 4],
    ['{"a":1,"b":[2]}', 4],
    ['["[,{"]', 2],
    ['["a,b","c"]', 3],
    ['["",",",[1]]', 5],
    [`["${BACKSLASH}",",1]`, 3],
    [`["${BACKSLASH}"",1]`, 3],
    [`["${BACKSLASH}${BACKSLASH}",1]`, 3],
    [`["${BACKSLASH}${BACKSLASH}${BACKSLASH}",,",1]`, 3],
    ['[1,"never closed, [{', 3],
  ])('is, in %s, %d', (text, count) => {
    expect(holdsMoreValues(Buffer.from(text), count - 1)).toBe(true);
    expect(holdsMoreValues(Buffer.from(text), count)).toBe(false);
  });
});
