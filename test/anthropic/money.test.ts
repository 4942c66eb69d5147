import { createAnthropicApi } from '@questline/anthropic';
import { describe, it } from 'vitest';
import { expectExactAdmission } from '../support/wire-money.ts';
import { ASK } from './support.ts';

describe('credits over the Anthropic wire', () => {
  it.each([false, true])(
    'admits exactly 100 of 1,000 parallel calls on credit for 100 (stream: %s)',
    async (stream) => {
      await expectExactAdmission({
        createApi: createAnthropicApi,
        mountPath: '/anthropic',
        path: '/v1/messages',
        body: { ...ASK, stream, max_tokens: 50 },
        refusal: { status: 402, error: { type: 'billing_error' } },
      });
    },
  );
});
