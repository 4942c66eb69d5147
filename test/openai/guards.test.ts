import { createOpenAIApi } from '@questline/openai';
import { describe } from 'vitest';
import { createSoundStudio, createStudio } from '../support/media.ts';
import { createScriptedProvider } from '../support/model.ts';
import { testGuards, type WireOperation } from '../support/wire-guards.ts';

const ID = 'f'.repeat(24);
const SCOPES = ['ai:chat', 'ai:generate', 'files:read', 'files:write'] as const;

function toForm(fields: Readonly<Record<string, string | Blob>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string') form.set(name, value);
    else form.set(name, value, 'a.mp3');
  }
  return form;
}

const PICTURE = new Blob(['x'], { type: 'image/png' });

/** Every operation of the wire. */
const OPERATIONS: readonly WireOperation[] = [
  ['POST', '/chat/completions', { model: 'scripted', messages: [{ role: 'user', content: 'Hi' }] }],
  [
    'POST',
    '/chat/completions',
    { model: 'scripted', messages: [{ role: 'user', content: 'Hi' }], stream: true },
  ],
  ['POST', '/responses', { model: 'scripted', input: 'Hi' }],
  ['POST', '/responses', { model: 'scripted', input: 'Hi', stream: true }],
  ['GET', '/models'],
  ['GET', '/models/scripted'],
  ['POST', '/embeddings', { model: 'vectors', input: 'x' }],
  ['POST', '/images/generations', { model: 'painter', prompt: 'x' }],
  ['POST', '/images/edits', toForm({ model: 'painter', prompt: 'x', image: PICTURE })],
  ['POST', '/audio/speech', { model: 'reader-sounds', voice: 'v', input: 'x'.repeat(100) }],
  ['POST', '/audio/transcriptions', toForm({ model: 'listener-sounds', file: new Blob(['x'.repeat(1000)]) })],
  ['POST', '/files', toForm({ purpose: 'user_data', file: new Blob(['x']) })],
  ['GET', '/files'],
  ['GET', `/files/${ID}`],
  ['GET', `/files/${ID}/content`],
  ['DELETE', `/files/${ID}`],
];

describe('guards of every operation of the OpenAI wire', () => {
  testGuards({
    createApi: createOpenAIApi,
    mountPath: '/openai',
    operations: OPERATIONS,
    isPaid: ([method, path]) => method === 'POST' && path !== '/files',
    scopes: SCOPES,
    models: () => [
      createScriptedProvider((call) => {
        call.say({ type: 'text', text: 'Hi' }, { type: 'usage', usage: { input: 4, output: 2 } });
        call.end();
      }),
      createStudio(),
      createSoundStudio({}, 'sounds'),
      {
        id: 'vectors',
        models: () => [
          {
            id: 'vectors',
            name: 'Vectors',
            type: 'embedding',
            provider: 'vectors',
            contextWindow: 1000,
            maxOutputTokens: 0,
            prices: { input: 100 },
          },
        ],
        generate: () => Promise.reject(new Error('no text')),
        embed: async ({ inputs }) => ({ embeddings: inputs.map(() => [1]), tokens: 1 }),
      },
    ],
    remainingHeader: 'x-ratelimit-remaining-requests',
    readName: ({ code }) => code,
    refusals: {
      credential: [401, 'invalid_api_key'],
      scope: [403, 'insufficient_permissions'],
      rate: [429, 'rate_limit_exceeded'],
      credit: [429, 'insufficient_quota'],
      budget: [429, 'insufficient_quota'],
      model: [404, 'model_not_found'],
      shutdown: [503, null],
    },
  });
});
