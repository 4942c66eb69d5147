import { ProviderError } from '@questline/core/ports';
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
    title: 'returns the complete answer',
    app: chatting(sayAtOnce('Hello there.')),
    ask: { body: WISH },
    status: 200,
    body: { result: 'Hello there.' },
    everywhere: true,
  },
  {
    title: 'rejects an unknown model',
    app: chatting(),
    ask: { body: { ...WISH, model: 'unknown' } },
    ...refused('application', {
      status: 422,
      message: 'model: unknown chat model',
      details: [{ path: 'model', message: 'unknown chat model' }],
    }),
  },
  {
    title: 'rejects a request without messages',
    app: chatting(),
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
    title: 'rejects a caller without credit',
    app: chatting(undefined, { credits: 1 }),
    ask: { body: WISH },
    ...refused('application', {
      status: 422,
      code: 'INSUFFICIENT_CREDITS',
      message:
        'Insufficient credits. You have 1 credits, but this request requires approximately 40.97 credits.',
    }),
  },
  {
    title: 'reports a provider that does not answer',
    app: failing('timeout'),
    ask: { body: WISH },
    ...refused('application', {
      status: 502,
      code: 'PROVIDER_ERROR',
      message: 'The model gave no answer: the provider did not answer in time.',
    }),
  },
  {
    title: 'reports a provider that rejects its key without blaming the caller',
    app: failing('rejected_key'),
    ask: { body: WISH },
    ...refused('application', {
      status: 401,
      code: 'PROVIDER_ERROR',
      message: 'The model provider refused the provider key in use.',
    }),
  },
  {
    title: 'rejects a provider without a key',
    app: failing('not_configured'),
    ask: { body: WISH },
    ...refused('application', {
      status: 503,
      code: 'PROVIDER_ERROR',
      message: 'No key is configured for this model provider.',
    }),
  },
];
