import { createOpenAIApi } from '@questline/openai';
import { describe, it } from 'vitest';
import { expectExactAdmission } from '../support/wire-money.ts';
import { ASK } from './support.ts';

describe('credits over the OpenAI wire', () => {
  it.each([false, true])(
    'admits exactly 100 of 1,000 parallel calls on credit for 100 (stream: %s)',
    async (stream) => {
      await expectExactAdmission({
        createApi: createOpenAIApi,
        mountPath: '/openai',
        path: '/v1/chat/completions',
        body: { ...ASK, stream, max_tokens: 50 },
        refusal: { status: 429, error: { code: 'insufficient_quota' } },
      });
    },
  );
});
