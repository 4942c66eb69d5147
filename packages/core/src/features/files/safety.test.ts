import { expect, it } from 'vitest';
import { getServedType, isSafeInline } from './safety.ts';

it.each([
  ['image/png', true],
  ['image/avif', true],
  ['audio/mpeg', true],
  ['video/mp4', true],
  ['text/plain', true],
  ['image/svg+xml', false],
  ['text/html', false],
  ['text/plain2', false],
  ['x-audio/mpeg', false],
])('shows %s inline: %s', (mimeType, isShown) => {
  expect(isSafeInline(mimeType)).toBe(isShown);
});

it.each([
  ['text/javascript', true],
  [' Application/X-ECMAScript ; charset=utf-8', true],
  ['text/css', true],
  ['application/wasm', true],
  ['application/xslt+xml', true],
  ['text/html', false],
  ['image/css', false],
  ['text/cssx', false],
])('serves %s as plain text: %s', (contentType, isPlain) => {
  expect(getServedType(contentType)).toBe(isPlain ? 'text/plain; charset=utf-8' : contentType);
});
