import { ProviderError } from '@questline/core';
import { sayAtOnce } from '../../support/chat.ts';
import { refused, type WireCase } from './case.ts';
import { chatting } from './chat.ts';

const WISH = { model: 'scripted', messages: [{ role: 'user', content: 'Hi' }], stream: true };

const failing = (kind: ConstructorParameters<typeof ProviderError>[0]) =>
  chatting(() => {
    throw new ProviderError(kind, 'secret words');
  });

export const infer: readonly WireCase[] = [
  {
    title: 'answers whole',
    world: chatting(sayAtOnce('Hello there.')),
    ask: { body: WISH },
    status: 200,
    body: { result: 'Hello there.' },
    everywhere: true,
  },
  {
    title: 'a model there is not',
    world: chatting(),
    ask: { body: { ...WISH, model: 'unknown' } },
    ...refused('application', {
      status: 422,
      message: 'model: there is no chat model of this name',
      details: [{ path: 'model', message: 'there is no chat model of this name' }],
    }),
  },
  {
    title: 'no messages',
    world: chatting(),
    ask: { body: { ...WISH, messages: [] } },
    ...refused('application', {
      status: 422,
      message: 'messages: Too small: expected array to have >=1 items, got a list of 0',
      details: [
        { path: 'messages', message: 'Too small: expected array to have >=1 items, got a list of 0' },
      ],
    }),
  },
  {
    title: 'without credit',
    world: chatting(undefined, { credits: 1 }),
    ask: { body: WISH },
    ...refused('application', {
      status: 422,
      code: 'INSUFFICIENT_CREDITS',
      message:
        'Insufficient credits. You have 1 credits, but this request requires approximately 40.97 credits.',
    }),
  },
  {
    title: 'with a provider that does not answer',
    world: failing('timeout'),
    ask: { body: WISH },
    ...refused('application', {
      status: 502,
      code: 'PROVIDER_ERROR',
      message: 'The model gave no answer: the provider did not answer in time.',
    }),
  },
  {
    title: 'with a provider that refuses its key, which says nothing of the caller',
    world: failing('rejected_key'),
    ask: { body: WISH },
    ...refused('application', {
      status: 401,
      code: 'PROVIDER_ERROR',
      message: 'The model provider refused the provider key in use.',
    }),
  },
  {
    title: 'with a provider that has no key',
    world: failing('not_configured'),
    ask: { body: WISH },
    ...refused('application', {
      status: 503,
      code: 'PROVIDER_ERROR',
      message: 'No key is configured for this model provider.',
    }),
  },
];
