import type { ModelInfo } from '@questline/core';
import { createScriptedProvider, SCRIPTED_MODEL } from '../../support/model.ts';
import type { WorldOptions } from '../../support/world.ts';
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

const three = (): WorldOptions => ({
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
    title: `refuses ?${query}`,
    world: three,
    ask: { path: `/api/v1/models?${query}` },
    ...refused('public', { status: 422, message }),
  };
}

export const listModels: readonly WireCase[] = [
  {
    title: 'lists what can be used through this api, in order',
    world: three,
    status: 200,
    body: { data: [scripted, second], next_cursor: null },
    everywhere: true,
  },
  {
    title: 'ignores parameters it does not know',
    world: three,
    caller: 'token',
    ask: { path: '/api/v1/models?colour=red&limit=100&__proto__=1' },
    status: 200,
    body: { data: [scripted, second], next_cursor: null },
  },
  {
    title: 'takes the first of a repeated parameter, and goes on at a cursor',
    world: three,
    ask: async (world) => {
      const first = await world.ask('GET', '/api/v1/models?limit=1&limit=0', {
        credential: await world.token(),
      });
      const { next_cursor } = (await first.json()) as { next_cursor: string };
      return { path: `/api/v1/models?limit=1&cursor=${encodeURIComponent(next_cursor)}` };
    },
    status: 200,
    body: { data: [second], next_cursor: null },
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
    world: three,
    status: 200,
    body: {
      models: [
        application,
        {
          ...application,
          id: 'second',
          type: 'image',
          name: 'Second',
          description: 'Draws.',
          deprecationDate: '2027-01-01',
        },
      ],
    },
  },
];
