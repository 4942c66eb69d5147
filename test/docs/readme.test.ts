import { exec } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
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

  it.each(['README.md', 'docs/operating/self-host.md'])(
    'packs every package with the command of %s',
    async (page) => {
      const root = join(import.meta.dirname, '../..');
      const [command] = /npm pack [^`]+/.exec(readFileSync(join(root, page), 'utf8')) ?? [];
      const { version } = JSON.parse(readFileSync(join(root, 'packages/core/package.json'), 'utf8'));
      const { stdout } = await promisify(exec)(`${command} --dry-run --silent`, { cwd: root });
      const names = readdirSync(join(root, 'packages')).map((name) => `questline-${name}-${version}.tgz`);
      expect(stdout.trim().split('\n').sort()).toEqual(names.sort());
    },
  );
});
