import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createConsole } from '@questline/console';
import { toFetchHandler } from '@questline/core';
import { beforeAll, describe, expect, it } from 'vitest';

const ask = (url: string, method = 'GET') => {
  const mountPath = '/ai';
  const handle = toFetchHandler(createConsole({ path: '/console' }), { mountPath });
  return handle(new Request(`http://questline.test${url}`, { method }));
};

describe('console below a path', () => {
  it('redirects the path without a slash, with its query', async () => {
    const response = await ask('/ai/console?invite=a');
    expect([response?.status, response?.headers.get('location')]).toEqual([308, '/ai/console/?invite=a']);
  });

  it('leaves every other path and method to the host', async () => {
    for (const path of ['/ai/consoles', '/ai/console/x', '/console', '/ai']) {
      expect(await ask(path)).toBeUndefined();
    }
    expect(await ask('/ai/console', 'POST')).toBeUndefined();
  });
});

describe('address that a device shows', () => {
  const handle = toFetchHandler(createConsole({ path: '/console' }), { mountPath: '/ai' });

  it.each([
    ['?code=BDWP-HQPK', 'BDWP-HQPK'],
    ['', ''],
    ['?code=%0D%0Ax%2F%2F', '%0D%0Ax%2F%2F'],
  ])('opens the page for its code with the query %j', async (query, code) => {
    const response = await handle(new Request(`http://questline.test/ai/console/device${query}`));
    expect(response?.status).toBe(302);
    expect(response?.headers.get('location')).toBe(`/ai/console/#/device/${code}`);
  });
});

describe('a console without sign-in', () => {
  beforeAll(async () => {
    const root = join(import.meta.dirname, '../../..');
    if (existsSync(join(root, 'packages/console/dist/app/index.html'))) return;
    await promisify(execFile)('npm', ['run', '--silent', 'build:app', '-w', '@questline/console'], {
      cwd: root,
    });
  });

  const readPage = async (ids: readonly string[]): Promise<string> => {
    const routes = ids.map((id) => ({ operation: { id } }));
    const handle = toFetchHandler(createConsole({ api: { routes } }));
    return (await (await handle(new Request('http://questline.test/')))?.text()) ?? '';
  };

  it('hides the form where the API sends no codes', async () => {
    expect(await readPage(['sendChatMessage'])).toContain('&quot;sign-in&quot;');
    expect(await readPage(['sendChatMessage', 'sendSignInCode'])).not.toContain('&quot;sign-in&quot;');
  });
});
