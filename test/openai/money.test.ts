import { createOpenAIApi } from '@questline/openai';
import { describe, it } from 'vitest';
import { expectExactAdmission } from '../support/wire-money.ts';
import { ASK } from './support.ts';

describe('credits over the OpenAI wire', () => {
  it.each([
    ['/v1/chat/completions', { ...ASK, stream: false, max_tokens: 50 }],
    ['/v1/chat/completions', { ...ASK, stream: true, max_tokens: 50 }],
    ['/v1/responses', { model: 'scripted', input: 'Hi', store: false, stream: true, max_output_tokens: 50 }],
  ])('admits exactly 100 of 1,000 parallel calls of %s on credit for 100 (%j)', async (path, body) => {
    await expectExactAdmission({
      createApi: createOpenAIApi,
      mountPath: '/openai',
      path,
      body,
      refusal: { status: 429, error: { code: 'insufficient_quota' } },
    });
  });

  it.each([false, true])(
    'admits exactly 10 of 40 parallel stored responses on credit for 10 (stream: %s)',
    async (stream) => {
      await expectExactAdmission({
        createApi: createOpenAIApi,
        mountPath: '/openai',
        path: '/v1/responses',
        body: { model: 'scripted', input: 'Hi', stream, max_output_tokens: 50 },
        refusal: { status: 429, error: { code: 'insufficient_quota' } },
        calls: [40, 10],
        started: true,
      });
    },
  );
});
