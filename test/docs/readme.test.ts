import { describe, expect, it } from 'vitest';
import { examplesOf, runProgram } from './program.ts';

describe('README.md', () => {
  const [mount, account] = examplesOf('README.md').map(({ code }) => code);

  it('mounts the api into Express in under twelve lines', () => {
    expect(mount?.trim().split('\n').length).toBeLessThan(12);
  });

  it('shows a program that streams an answer to whoever has the key', async () => {
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
  });
});

/** The program answers before it has made the key. */
async function untilMatch(pattern: RegExp, read: () => string): Promise<RegExpExecArray> {
  for (;;) {
    const match = pattern.exec(read());
    if (match !== null) return match;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
