import type { ModelInfo } from '@questline/core/ports';
import { expect } from 'vitest';
import { createScriptedProvider, SCRIPTED_MODEL } from '../../support/model.ts';
import type { TestAppOptions } from '../../support/test-app.ts';
import { refused, type WireCase } from './case.ts';

const EMBEDDING: ModelInfo = { ...SCRIPTED_MODEL, id: 'vectors', type: 'embedding' };
const SECOND: ModelInfo = {
  ...SCRIPTED_MODEL,
  id: 'second',
  name: 'Second',
  description: 'Draws.',
  type: 'image',
  deprecationDate: '2027-01-01',
  replacedBy: 'scripted',
  image: {
    sizing: { kind: 'fixed', size: '1024x1024' },
    supports: {
      transparent_background: false,
      seed: true,
      qualities: ['low'],
      max_images: 1,
      max_reference_images: 0,
      edit: false,
      requires_input_image: false,
    },
  },
};

const three = (): TestAppOptions => ({
  models: [createScriptedProvider(undefined, [SCRIPTED_MODEL, EMBEDDING, SECOND])],
});

const scripted = {
  id: 'scripted',
  name: 'Scripted',
  type: 'text',
  backend: 'scripted',
  description: null,
  context_window: 100_000,
  max_output_tokens: 10_000,
  supports_streaming: true,
  supports_thinking: false,
  supports_tools: true,
  supports_vision: false,
  deprecation_date: null,
  replaced_by: null,
  image: null,
};

const vectors = { ...scripted, id: 'vectors', type: 'embedding' };

const second = {
  ...scripted,
  id: 'second',
  name: 'Second',
  type: 'image',
  description: 'Draws.',
  deprecation_date: '2027-01-01',
  replaced_by: 'scripted',
  image: SECOND.image,
};

const WANTED_LIMIT = 'expected a whole number from 1 to 100';
const BAD_CURSOR = 'cursor: not a cursor of this list; start again without one';

function refusedQuery(query: string, message: string): WireCase {
  return {
    title: `rejects ?${query}`,
    app: three,
    ask: { path: `/api/v1/models?${query}` },
    ...refused('public', { status: 422, message }),
  };
}

export const listModels: readonly WireCase[] = [
  {
    title: 'lists the models available through this API, in order',
    app: three,
    status: 200,
    body: { data: [scripted, vectors, second], next_cursor: null },
    everywhere: true,
  },
  {
    title: 'ignores unknown parameters',
    app: three,
    caller: 'token',
    ask: { path: '/api/v1/models?colour=red&limit=100&__proto__=1' },
    status: 200,
    body: { data: [scripted, vectors, second], next_cursor: null },
  },
  {
    title: 'uses the first of a repeated parameter and continues at a cursor',
    app: three,
    ask: async (app) => {
      const first = await app.ask('GET', '/api/v1/models?limit=1&limit=0', {
        credential: await app.token(),
      });
      const { next_cursor } = (await first.json()) as { next_cursor: string };
      return { path: `/api/v1/models?limit=1&cursor=${encodeURIComponent(next_cursor)}` };
    },
    status: 200,
    body: { data: [vectors], next_cursor: expect.any(String) },
  },
  ...['0', '101', '-1', '1.5', 'ten', '', '1e1', ' 1'].map((limit) =>
    refusedQuery(
      `limit=${encodeURIComponent(limit)}`,
      `limit: ${WANTED_LIMIT}, got ${limit.length} characters of text`,
    ),
  ),
  refusedQuery('cursor=nonsense', BAD_CURSOR),
  refusedQuery(`cursor=${Buffer.from('["x","a","b"]').toString('base64url')}`, BAD_CURSOR),
  refusedQuery(
    `cursor=${'a'.repeat(1025)}`,
    'cursor: Too big: expected string to have <=1024 characters, got 1025 characters of text',
  ),
];

const application = {
  id: 'scripted',
  type: 'text',
  name: 'Scripted',
  backend: 'scripted',
  contextWindow: 100_000,
  max_tokens: 10_000,
  can_stream: true,
  can_think: false,
  supportsVision: false,
  supportsTools: true,
  supportsImageVariation: false,
  pricing: { '0': { input: 100, output: 100 } },
};

export const listApplicationModels: readonly WireCase[] = [
  {
    title: 'lists the same models with their prices',
    app: three,
    status: 200,
    body: {
      models: [
        application,
        { ...application, id: 'vectors', type: 'embedding' },
        {
          ...application,
          id: 'second',
          type: 'image',
          name: 'Second',
          description: 'Draws.',
          deprecationDate: '2027-01-01',
          replacedBy: 'scripted',
        },
      ],
    },
  },
];
