import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';

/** The minified script of a program for browsers, with everything that it imports. */
async function bundle(program: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: import.meta.dirname },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    conditions: ['@questline/source'],
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}

const CHAT = `
import { chat, createClient, createTokens } from '@questline/client';
const client = createClient({ credential: createTokens(storage) });
for await (const { reply } of await chat(client, { message: 'Hi' })) console.log(reply);
`;

describe('a bundle', () => {
  it('of a program that chats has at most 8 kB, compressed', async () => {
    expect(gzipSync(await bundle(CHAT)).length).toBeLessThanOrEqual(8000);
  });

  it('contains only the operations that the program uses', async () => {
    const script = await bundle(CHAT);
    const paths = [...script.matchAll(/"(\/api\/[^"]*)"/g)].map(([, path]) => path);
    expect(paths.sort()).toEqual([
      '/api/auth/refreshToken',
      '/api/chat',
      '/api/v1/quests/{id}',
      '/api/v1/quests/{id}/cancel',
      '/api/v1/quests/{id}/events',
    ]);
    expect(script).not.toContain('XMLHttpRequest');
  });

  it('contains only the methods that the program passes', async () => {
    const script = await bundle(`
      import { createClient } from '@questline/client';
      import { getMe, listModels } from '@questline/client/operations';
      createClient({ operations: { getMe, listModels } }).getMe();
    `);
    expect([...script.matchAll(/path:"([^"]*)"/g)].map(([, path]) => path).sort()).toEqual([
      '/api/v1/me',
      '/api/v1/models',
    ]);
  });

  it('of a program with every operation has at most 16 kB, compressed', async () => {
    const script = await bundle(`
      import * as everything from '@questline/client';
      import * as operations from '@questline/client/operations';
      console.log(everything, operations);
    `);
    expect(gzipSync(script).length).toBeLessThanOrEqual(16_000);
  });
});
