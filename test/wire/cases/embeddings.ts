import { createDemoProvider } from '@questline/core';
import { type ModelProvider, ProviderError, type ProviderErrorKind } from '@questline/core/ports';
import type { TestAppOptions } from '../../support/test-app.ts';
import { refused, type WireCase } from './case.ts';

const INFO = {
  id: 'vectors',
  name: 'Vectors',
  type: 'embedding',
  provider: 'vectors',
  contextWindow: 8000,
  maxOutputTokens: 0,
  dimensions: 2,
  prices: { input: 1 },
} as const;

/** Two dimensions: the length of the text, and one. */
const vectors: ModelProvider = {
  id: 'vectors',
  models: () => [INFO],
  generate: () => Promise.reject(new Error('it only embeds')),
  embed: async ({ inputs, dimensions = 2 }) => ({
    embeddings: inputs.map((text) => [text.length / 4, ...new Array<number>(dimensions - 1).fill(1)]),
    tokens: inputs.length,
  }),
};

const app = (settings: TestAppOptions['settings'] = {}): TestAppOptions => ({
  models: [vectors, createDemoProvider()],
  settings,
});

const failing = (kind: ProviderErrorKind) => (): TestAppOptions => ({
  models: [{ ...vectors, embed: () => Promise.reject(new ProviderError(kind, 'secret words')) }],
});

const usage = (tokens: number) => ({ prompt_tokens: tokens, total_tokens: tokens });
const embedding = (index: number, numbers: readonly number[] | string) => ({
  object: 'embedding',
  index,
  embedding: numbers,
});

function invalid(title: string, body: object, message: string, more: object = {}): WireCase {
  const refusal = refused('public', { status: 422, message, ...more });
  return { title, app, ask: { body: { model: 'vectors', input: 'hello', ...body } }, ...refusal };
}

export const createEmbeddings: readonly WireCase[] = [
  {
    title: 'embeds one text',
    app,
    ask: { body: { model: 'vectors', input: 'hello' } },
    status: 200,
    body: { object: 'list', data: [embedding(0, [1.25, 1])], model: 'vectors', usage: usage(1) },
    everywhere: true,
  },
  {
    title: 'embeds several texts as bytes and of another length',
    app,
    caller: 'token',
    ask: {
      body: { model: 'vectors', input: ['a', ''], dimensions: 3, encoding_format: 'base64' },
    },
    status: 200,
    body: {
      object: 'list',
      data: [
        embedding(0, Buffer.from(new Float32Array([0.25, 1, 1]).buffer).toString('base64')),
        embedding(1, Buffer.from(new Float32Array([0, 1, 1]).buffer).toString('base64')),
      ],
      model: 'vectors',
      usage: usage(2),
    },
  },
  {
    title: 'accepts as many texts as the answer may contain numbers',
    app,
    ask: { body: { model: 'vectors', input: new Array(2048).fill(''), dimensions: 96 } },
    status: 200,
    body: {
      object: 'list',
      data: new Array(2048).fill(0).map((_, index) => embedding(index, [0, ...new Array(95).fill(1)])),
      model: 'vectors',
      usage: usage(2048),
    },
  },
  invalid(
    'too many numbers in the answer',
    { input: new Array(2048).fill(''), dimensions: 97 },
    'input: expected at most 196608 numbers in the answer, got 2048 texts of 97 dimensions each',
    { errorCode: 'limit_exceeded' },
  ),
  {
    ...invalid(
      'too many numbers in the answer at the default length of the model',
      { model: 'demo-embedding', input: new Array(385).fill('a') },
      'input: expected at most 196608 numbers in the answer, got 385 texts of 512 dimensions each',
      { errorCode: 'limit_exceeded' },
    ),
  },
  invalid(
    'more tokens than a call may have',
    { input: ['x'.repeat(400_000), 'x'.repeat(350_001)] },
    'input: expected at most 300000 tokens, got about 300001',
    { errorCode: 'limit_exceeded' },
  ),
  invalid(
    'an empty list',
    { input: [] },
    'input: Too small: expected array to have >=1 items, got a list of 0',
  ),
  invalid(
    'too many texts',
    { input: new Array(2049).fill('') },
    'input: expected text, or a list of 1 to 2048 texts, got a list of 2049',
  ),
  invalid('a number', { input: 1 }, 'input: expected text, or a list of 1 to 2048 texts, got 1'),
  invalid('no dimensions', { dimensions: 0 }, 'dimensions: Too small: expected number to be >0, got 0'),
  invalid('a fraction as dimensions', { dimensions: 1.5 }, 'dimensions: expected int, got 1.5'),
  invalid('null', { input: null }, 'input: expected text, or a list of 1 to 2048 texts, got null'),
  invalid(
    'another encoding',
    { encoding_format: 'hex' },
    'encoding_format: Invalid option: expected one of "float"|"base64", got 3 characters of text',
  ),
  invalid('an unknown field', { user: 'me' }, 'Unrecognized key: "user"'),
  invalid(
    'an unknown model',
    { model: 'gone' },
    "model: there is no embedding model 'gone'; possible: vectors, demo-embedding",
    {
      errorCode: 'model_unavailable',
    },
  ),
  invalid(
    'a chat model',
    { model: 'demo-chat' },
    "model: there is no embedding model 'demo-chat'; possible: vectors, demo-embedding",
    {
      errorCode: 'model_unavailable',
    },
  ),
  {
    title: 'rejects a disabled model',
    app: () => app({ models: { vectors: { disabled: true } } }),
    ask: { body: { model: 'vectors', input: 'a' } },
    ...refused('public', {
      status: 422,
      message: "model: 'vectors' is disabled",
      errorCode: 'model_disabled',
    }),
  },
  {
    title: 'rejects a caller without credit',
    app: () => ({ ...app(), credits: 0 }),
    ask: { body: { model: 'vectors', input: 'a' } },
    ...refused('public', {
      status: 422,
      message:
        'Insufficient credits. You have 0 credits, but this request requires approximately 0.0001 credits.',
      errorCode: 'insufficient_credits',
    }),
  },
  {
    title: 'reports a provider that rejects its key',
    app: failing('rejected_key'),
    ask: { body: { model: 'vectors', input: 'a' } },
    ...refused('public', {
      status: 401,
      message: 'The model provider refused the provider key in use.',
      errorCode: 'provider_rejected',
    }),
  },
  {
    title: 'reports a provider that fails',
    app: failing('failed'),
    ask: { body: { model: 'vectors', input: 'a' } },
    ...refused('public', {
      status: 502,
      message: 'The model gave no answer: the provider failed.',
      errorCode: 'provider_error',
    }),
  },
  {
    title: 'reports an overloaded provider',
    app: failing('overloaded'),
    ask: { body: { model: 'vectors', input: 'a' } },
    headers: { 'retry-after': '5' },
    ...refused('public', {
      status: 503,
      message: 'The model provider is overloaded. Try again shortly.',
      errorCode: 'provider_overloaded',
    }),
  },
];
