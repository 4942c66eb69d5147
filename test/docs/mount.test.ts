import { describe, expect, it } from 'vitest';
import { getExamples } from './pages.ts';
import { runProgram, untilMatch } from './program.ts';

const PAGE = 'docs/start/mount.md';
const examples = getExamples(PAGE);
const shared = examples.find(({ code }) => code.startsWith('// api.ts'))?.code ?? '';
const programs = examples.filter(({ code }) => code.includes("from './api.ts'"));

describe(PAGE, () => {
  it('has a program for every host', () => {
    expect(programs.map(({ heading }) => heading)).toEqual([
      'Express 4 and 5',
      'Fastify 5',
      'Koa 2 and 3',
      'node:http',
      'Hono and other fetch-based servers',
      'NestJS on Express',
      'Paths',
    ]);
  });

  for (const { heading, code } of programs) {
    it(`shows a working program: ${heading}`, async () => {
      const whole = `${shared.replaceAll('export ', '')}\n${code.replace(/^import .* from '\.\/api\.ts';$/m, '')}`;
      const { url, output } = await runProgram(whole);
      const alone = code.includes('/my/path');
      const answer = await fetch(`${url}${alone ? '/my/path' : '/api/ai/v1/completions'}`, {
        method: 'POST',
      });
      expect(answer.status).toBe(401);
      expect(await answer.json()).toMatchObject({ type: 'error' });
      // The host answers paths that Questline does not have.
      const other = await fetch(`${url}/elsewhere`);
      expect(other.headers.get('x-request-id')).toBeNull();
      if (alone) return;
      if (code.includes('/api/users')) {
        expect(await (await fetch(`${url}/api/users`)).json()).toEqual(['mine']);
      }
      const [key] = await untilMatch(/svc_live_\w+/, output);
      const chat = await fetch(`${url}/api/chat`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ message: 'Hello', newConversation: true, wait: true }),
      });
      expect([chat.status, await chat.json()]).toMatchObject([200, { status: 'done', type: 'message' }]);
    });
  }
});
