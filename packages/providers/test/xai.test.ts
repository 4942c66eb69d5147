import type { ModelPart } from '@questline/core/ports';
import { createXAIProvider } from '@questline/providers/xai';
import { createXAIUpstream, type Script, type ScriptSource, xaiStream } from '@questline/testing/upstreams';
import { describe, expect, it } from 'vitest';
import { answer, failure, hello } from './collect.ts';
import { connect } from './set-up.ts';
import { cutEverywhere, truncateEverywhere } from './walk.ts';

const xai = (script: ScriptSource = {}) => connect(createXAIUpstream, createXAIProvider, script, {});

const rich: Script = {
  steps: [
    { thinking: 'Hm, naïve…' },
    { text: 'Grüße, 世界!' },
    { tool: 'weather', id: 'call_1', arguments: ['{"city":"Zürich"}'] },
  ],
  usage: { input: 20, cachedInput: 1000, output: 30, reasoning: 700 },
};

const richParts: ModelPart[] = [
  { type: 'thinking_delta', text: 'Hm, naïve…' },
  {
    type: 'thinking',
    block: {
      type: 'responses_reasoning',
      provider: 'xai',
      thinking: 'Hm, naïve…',
      item: {
        id: 'rs_0',
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'Hm, naïve…' }],
        encrypted_content: 'xai1.0',
      },
    },
  },
  { type: 'text', text: 'Grüße, 世界!' },
  { type: 'tool_use_delta', index: 0, id: 'call_1', name: 'weather', arguments: '' },
  { type: 'tool_use_delta', index: 0, arguments: '{"city":"Zürich"}' },
  { type: 'tool_use', id: 'call_1', name: 'weather', arguments: '{"city":"Zürich"}' },
  { type: 'usage', usage: { input: 20, cachedInput: 1000, cacheWrite: 0, output: 30, reasoning: 700 } },
  { type: 'finish', reason: 'tool_use', model: 'gpt-test' },
];

const walk = async () => ({
  ...(await xai()),
  script: rich,
  length: xaiStream(rich).length,
  parts: richParts,
});

describe('stream of xAI', () => {
  it('is converted to parts with encrypted reasoning in place', async () => {
    const { provider } = await xai(rich);
    expect(await answer(provider)).toEqual(richParts);
  });

  it('is read equally at any split of the bytes', async () => {
    await cutEverywhere(await walk());
  });

  it('fails when it is truncated', async () => {
    await truncateEverywhere(await walk(), 'end');
  });
});

describe('request to xAI', () => {
  it('sends cap and effort in its own fields', async () => {
    const { provider, upstream } = await xai();
    await answer(provider, { ...hello, model: 'grok-4.7', temperature: 0.2, reasoningEffort: 'low' });
    expect(upstream.requests[0]?.path).toBe('/v1/responses');
    expect(upstream.requests[0]?.headers.authorization).toBe('Bearer sk-platform-secret');
    expect(upstream.requests[0]?.body).toEqual({
      model: 'grok-4.7',
      input: [{ role: 'user', content: 'Hello' }],
      store: false,
      include: ['reasoning.encrypted_content'],
      max_output_tokens: 100,
      temperature: 0.2,
      reasoning: { effort: 'low' },
      stream: true,
    });
  });

  it('rejects documents that are not text', async () => {
    const { provider } = await xai();
    const content = [
      { type: 'document', mediaType: 'application/pdf', data: 'cGRm', name: 'a.pdf' },
    ] as const;
    const error = await failure(answer(provider, { ...hello, messages: [{ role: 'user', content }] }));
    expect(error.kind).toBe('invalid_request');
  });
});

describe('errors of xAI', () => {
  it.each([
    [400, 'Incorrect API key provided: xa***yz.', 'rejected_key'],
    [
      400,
      "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
      'context_length',
    ],
    [400, 'Unknown field', 'invalid_request'],
    [403, 'Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_CSAM', 'content_blocked'],
    [403, 'Your team has no credits', 'rejected_key'],
    [429, 'Too many requests', 'overloaded'],
  ])('maps %i to %s', async (status, error, kind) => {
    const body = { code: 'Client specified an invalid argument', error };
    const { provider } = await xai({ refusal: { status, body } });
    expect((await failure(answer(provider))).kind).toBe(kind);
  });

  it('maps an error in the middle of a stream', async () => {
    const { provider } = await xai({ steps: [{ text: 'a' }, { error: 'Oh', code: 'internal' }] });
    expect((await failure(answer(provider))).kind).toBe('failed');
  });
});
