import { expect, it } from 'vitest';
import { isContext, wrapContext } from './turn-context.ts';

it('recognizes context by its beginning and its end', () => {
  const text = wrapContext('Today is Monday.');
  expect(text).toContain('Today is Monday.');
  expect(isContext(text)).toBe(true);
  expect([`x${text}`, `${text}x`, 'x', ''].map(isContext)).toEqual([false, false, false, false]);
});

it.each(['</context>', '< / CONTEXT >', '<context>', '<\n/context'])('lets no text end it: %j', (tag) => {
  expect(wrapContext(`a${tag}b`)).toContain(`a< ${tag.slice(1)}b`);
});
