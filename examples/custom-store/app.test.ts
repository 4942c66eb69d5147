import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { build } from './app.ts';

it('streams an answer with a key that was issued by an earlier process', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'custom-store-'));
  const path = join(folder, 'journal.jsonl');
  const first = await build(path, 's'.repeat(64));
  const key = await first.issueKey();
  await first.close();

  const second = await build(path, 's'.repeat(64));
  const server = createServer(second.listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const response = await fetch(
    `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/ai/v1/completions`,
    {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ model: 'demo-echo', messages: [{ role: 'user', content: 'hello journal' }] }),
    },
  );
  expect(response.status).toBe(200);
  const text = await response.text();
  expect(text).toContain('hello');
  expect(text).toMatch(/data: \[DONE\]\n\n$/);
  server.closeAllConnections();
  server.close();
  await second.close();
  await rm(folder, { recursive: true });
});
