import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';

const CHAT = `
import { createClient } from '@questline/client';
import { QuestlineProvider, useConversation } from '@questline/react';
console.log(createClient, QuestlineProvider, useConversation);
`;

describe('a bundle', () => {
  it('of a chat has at most 8 kB, compressed, without React', async () => {
    const { outputFiles } = await build({
      stdin: { contents: CHAT, resolveDir: import.meta.dirname },
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'browser',
      conditions: ['@questline/source'],
      external: ['react'],
      write: false,
    });
    const script = outputFiles[0]?.text ?? '';
    expect(gzipSync(script).length).toBeLessThanOrEqual(8000);
    expect(script).not.toContain('video-generations');
  });
});
