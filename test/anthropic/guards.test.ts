import { createAnthropicApi } from '@questline/anthropic';
import { describe } from 'vitest';
import { sayAtOnce } from '../support/chat.ts';
import { testGuards } from '../support/wire-guards.ts';
import { ASK } from './support.ts';

describe('guards of every operation of the Anthropic wire', () => {
  testGuards({
    createApi: createAnthropicApi,
    mountPath: '/anthropic',
    operations: [
      ['POST', '/messages', ASK],
      ['POST', '/messages', { ...ASK, stream: true }],
      ['POST', '/messages/count_tokens', ASK],
      ['GET', '/models'],
      ['GET', '/models/scripted'],
    ],
    isPaid: ([, path]) => path === '/messages',
    scopes: ['ai:chat', 'ai:generate'],
    onCall: sayAtOnce('Hi'),
    remainingHeader: 'anthropic-ratelimit-requests-remaining',
    readName: ({ type }) => type,
    refusals: {
      credential: [401, 'authentication_error'],
      scope: [403, 'permission_error'],
      rate: [429, 'rate_limit_error'],
      credit: [402, 'billing_error'],
      budget: [402, 'billing_error'],
      model: [404, 'not_found_error'],
      shutdown: [503, 'api_error'],
    },
  });
});
