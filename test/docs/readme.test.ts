import { describe, expect, it } from 'vitest';
import { getExamples } from './pages.ts';
import { runProgram, untilMatch } from './program.ts';

describe('README.md', () => {
  const [mount, account] = getExamples('README.md').map(({ code }) => code);

  it('mounts the API into Express in under twelve lines', () => {
    expect(mount?.trim().split('\n').length).toBeLessThan(12);
  });

  it('shows a program that streams an answer to the owner of the key', async () => {
    const { url, output } = await runProgram(`${mount}\n${account}`);
    const [key] = await untilMatch(/svc_live_\w+/, output);
    const answer = await fetch(`${url}/api/ai/v1/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'demo-echo', messages: [{ role: 'user', content: 'Hello there' }] }),
    });
    expect(answer.status).toBe(200);
    const text = await answer.text();
    expect(text).toMatch(/"text":"Hello/);
    expect(text).toMatch(/"credits":\{"used":0\.\d+/);
    expect(text).toMatch(/data: \[DONE\]\n\n$/);
    const chat = await fetch(`${url}/api/chat`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ message: 'Hello', newConversation: true, wait: true }),
    });
    expect([chat.status, await chat.json()]).toMatchObject([200, { status: 'done', type: 'message' }]);
  });
});
