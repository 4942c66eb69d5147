import { globSync, readFileSync } from 'node:fs';
import { createAnthropicApi } from '@questline/anthropic';
import { createMcpApi } from '@questline/mcp-server';
import { createOpenAIApi } from '@questline/openai';
import { describe, expect, it } from 'vitest';
import { createTestApp } from '../support/test-app.ts';

const FOLDER = 'docs/clients/';
const HOST = 'https://ai.example.com';

const pages = globSync(`${FOLDER}*.md`)
  .filter((path) => !path.endsWith('README.md'))
  .map((path) => ({ path, text: readFileSync(path, 'utf8') }));

/** The addresses that clients append paths to. */
const BASES = ['/openai/v1', '/anthropic', '/anthropic/v1', '/mcp'];

/** Every route of the self-hosted server, as `METHOD path`. */
async function listRoutes(): Promise<ReadonlySet<string>> {
  const { api, services } = await createTestApp({
    settings: { secretEncryptionKey: 'c'.repeat(64) },
  });
  const mounts = [
    { path: '', routes: api.routes },
    { path: '/openai', routes: createOpenAIApi(services).routes },
    { path: '/anthropic', routes: createAnthropicApi(services).routes },
  ];
  const found = mounts.flatMap(({ path, routes }) =>
    routes.map(({ operation }) => `${operation.method} ${path}${operation.path}`),
  );
  return new Set([...found, ...(createMcpApi(services) === undefined ? [] : ['POST /mcp'])]);
}

describe('pages of clients', () => {
  it('are listed, each once', () => {
    const links = [...readFileSync(`${FOLDER}README.md`, 'utf8').matchAll(/^\| \[[^\]]+\]\((\S+\.md)\)/gm)];
    const listed = links.map(([, link]) => `${FOLDER}${link}`);
    expect(listed.sort()).toEqual(pages.map(({ path }) => path).sort());
  });

  it.each(pages)('name only routes that exist: $path', async ({ text }) => {
    const routes = await listRoutes();
    const named = [...text.matchAll(/\b(GET|POST|PUT|PATCH|DELETE) (\/[\w./{}-]*[\w}])/g)];
    expect(named.length).toBeGreaterThan(0);
    for (const [route] of named) expect([route, routes.has(route)]).toEqual([route, true]);
  });

  it.each(pages)('name only addresses that clients can use: $path', ({ text }) => {
    const addresses = [...text.matchAll(/https:\/\/ai\.example\.com[\w./-]*/g)].map(([address]) => address);
    for (const address of addresses) expect(BASES.map((base) => HOST + base)).toContain(address);
  });

  it.each(pages)('say what works: $path', ({ text }) => {
    expect(text).toMatch(/\*\*Works\*\*/);
    expect(text).toMatch(/`ai:|scopes/);
  });
});
