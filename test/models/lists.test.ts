import type { ModelInfo } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { type ChatApp, createChatApp, silent } from '../support/chat.ts';
import { createScriptedProvider } from '../support/model.ts';

const PLAIN: ModelInfo = {
  id: 'plain',
  name: 'Plain',
  type: 'text',
  provider: 'scripted',
  contextWindow: 1000,
  maxOutputTokens: 100,
};
const FULL: ModelInfo = {
  ...PLAIN,
  id: 'full',
  name: 'Full',
  description: 'Everything.',
  supportsStreaming: true,
  supportsThinking: true,
  supportsTools: true,
  supportsVision: true,
  deprecationDate: '2027-01-02',
  replacedBy: 'plain',
  prices: { input: 3, output: 15 },
};
const PAINTER: ModelInfo = {
  ...PLAIN,
  id: 'painter',
  type: 'image',
  image: {
    sizing: { kind: 'fixed' },
    supports: {
      transparent_background: false,
      seed: true,
      qualities: ['low', 'high'],
      max_images: 4,
      max_reference_images: 2,
      edit: true,
      requires_input_image: false,
    },
  },
};

const create = (models: readonly ModelInfo[] = [PLAIN, FULL, PAINTER]) =>
  createChatApp({ model: createScriptedProvider(silent, models), settings: { admin: {} }, started: false });

const getById = (list: readonly { id: string }[]) => Object.fromEntries(list.map((one) => [one.id, one]));

describe('GET /api/v1/models', () => {
  it('returns every field of each model', async () => {
    const app = await create();
    const { body } = await app.json('GET', '/api/v1/models');
    const plain = {
      id: 'plain',
      name: 'Plain',
      type: 'text',
      backend: 'scripted',
      description: null,
      context_window: 1000,
      max_output_tokens: 100,
      supports_streaming: false,
      supports_thinking: false,
      supports_tools: false,
      supports_vision: false,
      deprecation_date: null,
      replaced_by: null,
      image: null,
    };
    expect(getById(body.data)).toEqual({
      plain,
      painter: { ...plain, id: 'painter', type: 'image', image: PAINTER.image },
      full: {
        ...plain,
        id: 'full',
        name: 'Full',
        description: 'Everything.',
        supports_streaming: true,
        supports_thinking: true,
        supports_tools: true,
        supports_vision: true,
        deprecation_date: '2027-01-02',
        replaced_by: 'plain',
      },
    });
  });

  const readPages = async (app: ChatApp, limit: number) => {
    const pages: string[][] = [];
    for (let cursor = ''; ; ) {
      const { body } = await app.json('GET', `/api/v1/models?limit=${limit}${cursor}`);
      pages.push(body.data.map(({ id }: { id: string }) => id));
      if (body.next_cursor === null) return pages;
      cursor = `&cursor=${body.next_cursor}`;
    }
  };

  it.each([1, 2, 3, 4])('has pages of %i models, each model once', async (limit) => {
    const models = Array.from({ length: 4 }, (_, at) => ({
      ...FULL,
      id: `m${at}`,
      prices: { input: at + 1, output: at + 1 },
    }));
    const pages = await readPages(await create(models), limit);
    expect(pages.flat()).toEqual(['m0', 'm1', 'm2', 'm3']);
    expect(pages).toHaveLength(Math.ceil(4 / limit));
  });

  it('refuses a cursor of a model that is gone, and one of another user', async () => {
    const models = [PLAIN, { ...PLAIN, id: 'second' }];
    const app = await create(models);
    const { next_cursor } = (await app.json('GET', '/api/v1/models?limit=1')).body;
    const path = `/api/v1/models?limit=1&cursor=${next_cursor}` as const;
    expect((await app.json('GET', path)).body.data).toMatchObject([{ id: 'second' }]);
    const credential = await app.token(await app.addUser('bob@example.com'));
    expect((await app.json('GET', path, { credential })).status).toBe(422);
    models.shift();
    const without = await create([{ ...PLAIN, id: 'third' }]);
    expect((await without.json('GET', path)).status).toBe(422);
  });
});

it('GET /api/models returns every field of each model', async () => {
  const app = await create();
  const { body } = await app.json('GET', '/api/models');
  const plain = {
    id: 'plain',
    type: 'text',
    name: 'Plain',
    backend: 'scripted',
    contextWindow: 1000,
    max_tokens: 100,
    can_stream: false,
    can_think: false,
    supportsVision: false,
    supportsTools: false,
    supportsImageVariation: false,
    pricing: { '0': { input: 0, output: 0 } },
  };
  expect(getById(body.models)).toEqual({
    plain,
    painter: { ...plain, id: 'painter', type: 'image', supportsImageVariation: true },
    full: {
      ...plain,
      id: 'full',
      name: 'Full',
      can_stream: true,
      can_think: true,
      supportsVision: true,
      supportsTools: true,
      pricing: { '0': { input: 3, output: 15 } },
      deprecationDate: '2027-01-02',
      replacedBy: 'plain',
      description: 'Everything.',
    },
  });
});
