import { createAnthropicApi } from '@questline/anthropic';
import { withVendorTypes } from '../support/vendor-types/check-wire.ts';
import { listRoutes, vendorOperations } from './vendor-operation.ts';
import type { GuardedWire, WireRequest } from './wire.ts';

const operation = vendorOperations('/anthropic/v1', (text) => JSON.parse(text).error.type);

const ask = ({ text, fileId }: WireRequest) => ({
  model: 'scripted',
  max_tokens: 100,
  messages: [
    {
      role: 'user',
      content:
        fileId === undefined ? text : [{ type: 'document', source: { type: 'file', file_id: fileId } }],
    },
  ],
});

const FREE = { none: 'free, and writes nothing' } as const;

export const ANTHROPIC: GuardedWire = {
  name: 'Anthropic',
  mountPath: '/anthropic',
  package: 'anthropic',
  createApi: ({ services }) => withVendorTypes('anthropic', createAnthropicApi(services)),
  list: async ({ services }) => listRoutes(createAnthropicApi(services)),
  operations: [
    operation({
      id: 'createAnthropicMessage',
      method: 'POST',
      path: '/messages',
      repeat: 'replayed',
      file: 'input',
      body: ask,
    }),
    operation({
      id: 'createAnthropicMessage',
      title: 'POST /messages, streamed',
      method: 'POST',
      path: '/messages',
      repeat: 'replayed',
      file: 'input',
      body: (request) => ({ ...ask(request), stream: true }),
    }),
    operation({
      id: 'countAnthropicTokens',
      method: 'POST',
      path: '/messages/count_tokens',
      unpaid: 'asks no model',
      repeat: FREE,
      body: ask,
    }),
    operation({ id: 'listAnthropicModels', method: 'GET', path: '/models', repeat: FREE, listsModels: true }),
    operation({ id: 'getAnthropicModel', method: 'GET', path: '/models/scripted', repeat: FREE }),
  ],
  refusals: {
    credential: { status: 401, name: 'authentication_error' },
    twoKeys: { status: 401, name: 'authentication_error' },
    scope: { status: 403, name: 'permission_error' },
    window: { status: 429, name: 'rate_limit_error' },
    credit: { status: 402, name: 'billing_error' },
    cap: { status: 402, name: 'billing_error' },
    budget: { status: 402, name: 'billing_error' },
    daily: { status: 429, name: 'rate_limit_error' },
    hiddenModel: { status: 404, name: 'not_found_error' },
    listedModel: { status: 400, name: 'invalid_request_error', text: /model/ },
    file: { status: 400, name: 'invalid_request_error' },
    switchedOff: { text: /Unknown path|not allowed here/ },
    reusedKey: { status: 400, name: 'invalid_request_error' },
    shutdown: { status: 503, name: 'api_error' },
  },
  remainingHeader: 'anthropic-ratelimit-requests-remaining',
  forbidsRetries: true,
};
