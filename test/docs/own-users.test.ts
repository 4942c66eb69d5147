import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runProgram } from './program.ts';

describe('docs/guides/own-users.md', () => {
  it('begins with a program that answers requests of a host user and rejects others', async () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/guides/own-users.md'), 'utf8');
    const [, code = ''] = /```ts\n([\s\S]*?)```/.exec(page) ?? [];
    const program = await runProgram(code);
    const ask = (headers: Readonly<Record<string, string>>) =>
      fetch(`${program.url}/api/ai/v1/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'Hello' }] }),
      });
    const answer = await ask({ cookie: 'sid=alice-1' });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('[DONE]');
    expect((await ask({ cookie: 'sid=other' })).status).toBe(401);
    expect((await ask({ cookie: 'sid=alice-1', origin: 'https://evil.example' })).status).toBe(403);
  });
});
