import { describe, expect, it } from 'vitest';
import { examplesOf, runProgram } from './program.ts';

const PAGE = 'docs/start/mount.md';
const [shared, ...programs] = examplesOf(PAGE).filter(({ code }) => /^(?:\/\/ api\.js|import)/.test(code));

describe(PAGE, () => {
  it('has a program for every host', () => {
    expect(programs.map(({ heading }) => heading)).toEqual([
      'Express 4 and 5',
      'Fastify 5',
      'Koa 2 and 3',
      'node:http',
      'Everything that speaks fetch',
      'Where it is mounted',
    ]);
  });

  for (const { heading, code } of programs) {
    it(`shows a program that answers: ${heading}`, async () => {
      const whole = `${shared?.code.replaceAll('export ', '')}\n${code.replace(/^import .* from '\.\/api\.js';$/m, '')}`;
      const { url } = await runProgram(whole);
      const alone = code.includes('/my/path');
      const answer = await fetch(`${url}${alone ? '/my/path' : '/api/ai/v1/completions'}`, {
        method: 'POST',
      });
      expect(answer.status).toBe(401);
      expect(await answer.json()).toMatchObject({ type: 'error' });
      // The host's own answer to what is not ours.
      const other = await fetch(`${url}/elsewhere`);
      expect(other.headers.get('x-request-id')).toBeNull();
    });
  }
});
