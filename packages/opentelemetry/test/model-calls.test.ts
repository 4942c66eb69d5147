import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { type ModelCall, type ModelCallEnd, ProviderError } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { setUp, setUpUnrecorded } from './recorded.ts';

describe('the span of a model call', () => {
  const CALL: ModelCall = { provider: 'openai', model: 'm', kind: 'chat', ownKey: true };

  function record(
    call: Partial<ModelCall>,
    end: ModelCallEnd = { outcome: 'done' },
  ): ReadableSpan | undefined {
    const { tracing, spans } = setUp();
    tracing.modelCall?.({ ...CALL, ...call })?.ended(end);
    return spans()[0];
  }

  it.each([
    ['chat', 'chat', undefined],
    ['embeddings', 'embeddings', undefined],
    ['image', 'generate_content', 'image'],
    ['speech', 'generate_content', 'speech'],
    ['sound_effect', 'generate_content', 'audio'],
    ['music', 'generate_content', 'audio'],
    ['video', 'generate_content', 'video'],
    ['transcription', 'generate_content', 'text'],
  ] as const)('names the operation and the output of a call for %s', (kind, operation, output) => {
    const span = record({ kind });
    expect([span?.name, span?.kind]).toEqual([`${operation} m`, SpanKind.CLIENT]);
    expect(span?.attributes).toEqual({
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'm',
      ...(output !== undefined && { 'gen_ai.output.type': output }),
      'questline.own_key': true,
    });
  });

  it('has the name of the operation alone without a model', () => {
    const span = record({ model: undefined, kind: 'video' });
    expect(span?.name).toBe('generate_content');
    expect(span?.attributes).not.toHaveProperty('gen_ai.request.model');
  });

  it.each([
    ['gemini', 'gcp.gemini'],
    ['xai', 'x_ai'],
    ['other', 'other'],
  ])('gives the provider %s the name %s', (provider, name) => {
    expect(record({ provider })?.attributes['gen_ai.provider.name']).toBe(name);
  });

  it.each([
    ['stop', 'stop'],
    ['max_tokens', 'length'],
    ['tool_use', 'tool_call'],
    ['content_filter', 'content_filter'],
    ['other', 'other'],
  ] as const)('gives the end %s the name %s', (finishReason, name) => {
    const { attributes, status } = record({}, { outcome: 'done', finishReason }) ?? {};
    expect(attributes?.['gen_ai.response.finish_reasons']).toEqual([name]);
    expect(status?.code).toBe(SpanStatusCode.UNSET);
  });

  it('has limits and amounts of zero, and no amounts that are unknown', () => {
    const end = { outcome: 'done', usage: { input: 0, output: 2 } } as const;
    expect(record({ maxTokens: 0, temperature: 0 }, end)?.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'm',
      'gen_ai.request.max_tokens': 0,
      'gen_ai.request.temperature': 0,
      'gen_ai.usage.input_tokens': 0,
      'gen_ai.usage.output_tokens': 2,
      'questline.own_key': true,
    });
  });

  it.each([
    [new ProviderError('overloaded', 'text'), { 'error.type': 'overloaded' }],
    [
      new ProviderError('invalid_request', 'text', { status: 404, code: 'no_model', param: 'model' }),
      {
        'error.type': 'invalid_request',
        'questline.provider.status': 404,
        'questline.provider.code': 'no_model',
        'questline.provider.param': 'model',
      },
    ],
    [new TypeError('text'), { 'error.type': 'TypeError' }],
    ['text', { 'error.type': '_OTHER' }],
  ])('fails with the kind of %s alone', (error, expected) => {
    const { attributes, status } = record({}, { outcome: 'failed', error }) ?? {};
    const { attributes: others } = record({}) ?? {};
    expect(attributes).toStrictEqual({ ...others, ...expected });
    expect(status).toEqual({ code: SpanStatusCode.ERROR });
  });

  it('does not fail when the client disconnects', () => {
    const { attributes, status } = record({}, { outcome: 'client_closed' }) ?? {};
    expect(attributes).toMatchObject({ 'questline.client_closed': true });
    expect(status?.code).toBe(SpanStatusCode.UNSET);
  });

  it('counts what a cache read and took as input, and thoughts as output', () => {
    const usage = { input: 10, cachedInput: 5, cacheWrite: 2, output: 7, reasoning: 3 };
    expect(record({}, { outcome: 'done', usage, model: 'm-2026' })?.attributes).toMatchObject({
      'gen_ai.response.model': 'm-2026',
      'gen_ai.usage.input_tokens': 17,
      'gen_ai.usage.output_tokens': 10,
      'gen_ai.usage.cache_read.input_tokens': 5,
      'gen_ai.usage.cache_creation.input_tokens': 2,
      'gen_ai.usage.reasoning.output_tokens': 3,
    });
  });

  it('has an event for the first part of the answer', () => {
    const { tracing, spans } = setUp();
    const call = tracing.modelCall?.(CALL);
    call?.began?.();
    call?.ended({ outcome: 'done' });
    expect(spans()[0]?.events.map(({ name }) => name)).toEqual(['questline.first_part']);
  });

  it('is ended at once when it is not recorded', () => {
    const { tracing, end } = setUpUnrecorded();
    expect(tracing.modelCall?.(CALL)).toBeUndefined();
    expect(end).toHaveBeenCalledOnce();
  });
});
