import { expect, it } from 'vitest';
import { attachmentDisposition } from './disposition.ts';

it.each([
  ['plan.pdf', 'plan.pdf', 'plan.pdf'],
  ["it's (1)*.txt", "it's (1)*.txt", 'it%27s%20%281%29%2A.txt'],
  ['a/b\\c', 'a_b_c', 'a_b_c'],
  ['50%"x"', '50__x_', '50%25%22x%22'],
  ['n\u00e4h\ud83d\ude00', 'n_h_', 'n%C3%A4h%F0%9F%98%80'],
  ['a\ud800b', 'a_b', 'a%EF%BF%BDb'],
])('names %j as ASCII and in full', (name, plain, encoded) => {
  expect(attachmentDisposition(name)).toBe(`attachment; filename="${plain}"; filename*=UTF-8''${encoded}`);
});
