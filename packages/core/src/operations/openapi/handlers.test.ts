import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { ApiRequest } from '../../contract/message.ts';
import { defineOperation } from '../../contract/operation.ts';
import { createMemoryLimiter } from '../../memory/limiter.ts';
import { NAME_SUNSET } from '../families.ts';
import { DEFAULT_RATE_LIMITS } from '../rates.ts';
import type { Description } from './document.ts';
import { createDescriptionRoutes, type DescriptionServices } from './handlers.ts';
import { pagePolicy } from './page.ts';

const getThing = defineOperation({
  ...{ id: 'getThing', method: 'GET', path: '/api/v1/thing', tag: 'Things', summary: 'Get it', auth: 'none' },
  ...{ scopes: [], rate: { key: 'unlimited', user: 'unlimited' }, owner: 'none', family: 'public' },
  ...{ input: {}, output: { 200: { description: 'It.', schema: z.object({ id: z.string() }) } } },
} as const);

function setUp(settings: Partial<DescriptionServices> = {}, start = NAME_SUNSET - 10) {
  const clock = createFakeClock(start);
  let loaded = 0;
  const services = {
    ...{ clock, ids: createFakeIds(), limiter: createMemoryLimiter(), limits: DEFAULT_RATE_LIMITS },
    ...{ authenticator: {}, onError: () => undefined, publicUrl: undefined, docsBundle: undefined },
    ...settings,
  } as unknown as DescriptionServices;
  const routes = createDescriptionRoutes(services, [getThing], async () => {
    loaded += 1;
    return { getThing: { response: { status: 200, body: { id: 'recorded' } } } };
  });
  const get = async (path: string, query = '') => {
    const route = routes.find(({ operation }) => operation.path === path);
    if (route === undefined) throw new Error(`no route at ${path}`);
    const request = {
      ...{ method: 'GET', path, query, mountPath: '/ai', protocol: 'https', headers: { host: 'ai.test' } },
      ...{ body: { bytes: async () => new Uint8Array() }, signal: new AbortController().signal },
    } as unknown as ApiRequest;
    const answer = await route.handle(request);
    if (answer === undefined) throw new Error('no answer');
    return { ...answer, text: String(answer.body) };
  };
  const read = async (path: string) => JSON.parse((await get(path)).text) as Description;
  const paths = routes.map(({ operation }) => operation.path);
  return { clock, get, read, paths, countLoads: () => loaded };
}

const PUBLIC = '/api/v1/openapi.json';
const APPLICATION = '/api/openapi.json';
const PAGE = '/api/v1/docs';
const SCRIPT = '/api/v1/docs/redoc.js';

describe('a description', () => {
  it('is JSON that begins with its title, and names the server of the request', async () => {
    const { get } = setUp();
    const { status, headers, text } = await get(PUBLIC);
    expect([status, headers]).toMatchObject([
      200,
      { 'Content-Type': 'application/json; charset=utf-8', Vary: 'Host, X-Forwarded-Proto' },
    ]);
    expect(Object.keys(JSON.parse(text) as object).slice(0, 3)).toEqual(['openapi', 'info', 'servers']);
    expect(JSON.parse(text)).toMatchObject({
      openapi: '3.1.0',
      info: { title: 'Questline API' },
      servers: [{ url: 'https://ai.test/ai' }],
      components: { schemas: { getThingResponse200: { type: 'object' } } },
    });
  });

  it('names the public URL for every host', async () => {
    const { get } = setUp({ publicUrl: 'https://public.test' });
    const { headers, text } = await get(PUBLIC);
    expect(headers).not.toHaveProperty('Vary');
    expect(JSON.parse(text)).toMatchObject({ servers: [{ url: 'https://public.test/ai' }] });
  });

  it('is that of its side, with examples and the routes of the descriptions', async () => {
    const { read } = setUp();
    const { paths } = await read(PUBLIC);
    expect(Object.keys(paths)).toEqual(['/api/v1/thing']);
    expect(paths['/api/v1/thing']?.get?.responses['200']).toMatchObject({
      content: { 'application/json': { example: { id: 'recorded' } } },
    });
    const application = await read(APPLICATION);
    expect(application.info.title).toBe('Questline application API');
    expect(Object.keys(application.paths)).toEqual([PUBLIC, APPLICATION, PAGE]);
  });

  it('is built once before the sunset of a field, and once after it', async () => {
    const { clock, read, get, countLoads } = setUp();
    const hasName = async () => {
      const { ErrorResponse } = (await read(PUBLIC)).components.schemas as Record<
        string,
        { properties: object }
      >;
      return 'name' in (ErrorResponse?.properties ?? {});
    };
    expect(await hasName()).toBe(true);
    await get(PAGE);
    // The page shows both sides.
    expect(countLoads()).toBe(2);
    await clock.advance(9);
    expect([await hasName(), countLoads()]).toEqual([true, 2]);
    await clock.advance(1);
    expect([await hasName(), await hasName(), countLoads()]).toEqual([false, false, 3]);
  });
});

describe('the reference page', () => {
  it('without a script shows both sides, and allows nothing else', async () => {
    const { get, paths } = setUp();
    expect(paths).toEqual([PUBLIC, APPLICATION, PAGE]);
    const { status, headers, text } = await get(PAGE);
    expect([status, headers]).toMatchObject([
      200,
      {
        'Content-Type': 'text/html; charset=utf-8',
        'Content-Security-Policy': pagePolicy(text),
        'X-Content-Type-Options': 'nosniff',
        'Referrer-Policy': 'no-referrer',
      },
    ]);
    expect(text).not.toContain('<script');
    expect(text).toMatch(/<h1>Questline API .*<h1>Questline application API /s);
  });

  it('with a script loads it from the same place', async () => {
    const { get, paths, read } = setUp({ docsBundle: async () => 'show()' });
    expect(paths).toEqual([PUBLIC, APPLICATION, PAGE, SCRIPT]);
    expect(Object.keys((await read(APPLICATION)).paths)).toContain(SCRIPT);
    expect((await get(PAGE)).text).toContain('<redoc spec-url="openapi.json"');
    expect((await get(PAGE, 'document=application')).text).toContain('spec-url="../openapi.json"');
  });
});

describe('the script of the page', () => {
  const LOGO = 'https://cdn.redoc.ly/redoc/logo-mini.svg';

  it.each([
    ['text', `a("${LOGO}");b("${LOGO}")`],
    ['bytes', new TextEncoder().encode(`a("${LOGO}");b("${LOGO}")`)],
  ])('is read once, and names no other origin: %s', async (_, script) => {
    let read = 0;
    const { get } = setUp({
      async docsBundle() {
        read += 1;
        return script;
      },
    });
    const { status, headers, text } = await get(SCRIPT);
    expect([status, text]).toEqual([200, 'a("data:,");b("data:,")']);
    expect(headers).toMatchObject({
      'Content-Type': 'text/javascript; charset=utf-8',
      'Cache-Control': 'public, max-age=86400',
      'X-Content-Type-Options': 'nosniff',
    });
    await get(SCRIPT);
    expect(read).toBe(1);
  });

  it('is read again after a failure', async () => {
    let isAway = true;
    const { get } = setUp({
      async docsBundle() {
        if (isAway) throw new Error('away');
        return 'show()';
      },
    });
    expect((await get(SCRIPT)).status).toBe(500);
    isAway = false;
    expect((await get(SCRIPT)).text).toBe('show()');
  });
});
