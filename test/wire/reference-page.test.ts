import { toFetchHandler } from '@questline/core';
import { createDescriptionRoutes, type Description } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { createTestApp, NOW } from '../support/test-app.ts';

const LOGO = 'https://cdn.redoc.ly/redoc/logo-mini.svg';

describe('reference page with a bundle', async () => {
  const app = await createTestApp({ settings: { docsBundle: async () => `show("${LOGO}")` } });
  const read = async (path: string): Promise<string> => (await app.ask('GET', path)).text();

  it('shows each document over the full width', async () => {
    const publicPage = await read('/api/v1/docs');
    const applicationPage = await read('/api/v1/docs?document=application');
    expect(publicPage).toContain('spec-url="openapi.json"');
    expect(applicationPage).toContain('spec-url="../openapi.json"');
    for (const page of [publicPage, applicationPage]) {
      expect(page).toContain('<a href="docs?document=public"');
      expect(page).toContain('<a href="docs?document=application"');
      expect(page).not.toContain('max-width');
    }
  });

  it('shows the public document for an unknown choice', async () => {
    expect(await read('/api/v1/docs?document=other')).toContain('spec-url="openapi.json"');
  });

  it('loads the logo of redoc from no other origin', async () => {
    expect(await read('/api/v1/docs/redoc.js')).toBe('show("data:,")');
  });
});

describe('reference page without a bundle', () => {
  it('shows code in descriptions as code, without backticks', async () => {
    const app = await createTestApp();
    const page = await (await app.ask('GET', '/api/v1/docs')).text();
    expect(page).toContain('<code>');
    // Schemas are JSON, whose descriptions keep them.
    expect(page.replace(/<pre>.*?<\/pre>/gs, '')).not.toContain('`');
  });
});

describe('documents and their page', () => {
  it.each(['/api/v1/openapi.json', '/api/openapi.json', '/api/v1/docs'])(
    'are built at the next request if the examples could not be read: %s',
    async (path) => {
      const { services, incidents } = await createTestApp();
      let isAway = true;
      const routes = createDescriptionRoutes(services, [], async () => {
        if (isAway) throw new Error('away');
        return {};
      });
      const route = routes.find(({ operation }) => operation.path === path);
      if (route === undefined) throw new Error(`there is no route at ${path}`);
      const handle = toFetchHandler(route);
      const getStatus = async () => (await handle(new Request(`http://questline.test${path}`)))?.status;
      expect(await getStatus()).toBe(500);
      expect(incidents).toMatchObject([{ error: new Error('away') }]);
      isAway = false;
      expect(await getStatus()).toBe(200);
    },
  );
});

describe('deprecated field name', () => {
  const readFields = async (now: number): Promise<unknown[]> => {
    const app = await createTestApp({ now });
    const { components } = (await (await app.ask('GET', '/api/v1/openapi.json')).json()) as Description;
    return ['ErrorResponse', 'sendChatMessageResponse504', 'synthesizeSpeechResponse413'].map(
      (name) =>
        (components.schemas?.[name] as { properties?: { name?: unknown } } | undefined)?.properties?.name,
    );
  };

  it('is marked with its sunset in every schema, and is absent from then on', async () => {
    const marked = expect.objectContaining({ deprecated: true, 'x-sunset': '2026-12-01' });
    expect(await readFields(NOW)).toEqual([marked, marked, marked]);
    expect(await readFields(Date.UTC(2026, 11, 1))).toEqual([undefined, undefined, undefined]);
  });
});
