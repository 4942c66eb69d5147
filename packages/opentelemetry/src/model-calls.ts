import { type Attributes, type Span, SpanKind, type Tracer } from '@opentelemetry/api';
import type { FinishReason, ModelCall, ModelCallEnd, ModelCallSpan, Usage } from '@questline/core/ports';
import { fail } from './failure.ts';

/** What the conventions call our kinds of calls, and what comes out of them. */
const KINDS: Readonly<Record<ModelCall['kind'], { operation: string; output?: string }>> = {
  chat: { operation: 'chat' },
  embeddings: { operation: 'embeddings' },
  image: { operation: 'generate_content', output: 'image' },
  speech: { operation: 'generate_content', output: 'speech' },
  sound_effect: { operation: 'generate_content', output: 'audio' },
  music: { operation: 'generate_content', output: 'audio' },
  video: { operation: 'generate_content', output: 'video' },
  transcription: { operation: 'generate_content', output: 'text' },
};

/** What the conventions call our providers; others go by their own ids. */
const PROVIDERS: Readonly<Record<string, string>> = { gemini: 'gcp.gemini', xai: 'x_ai' };

const FINISH_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: 'stop',
  max_tokens: 'length',
  tool_use: 'tool_call',
  content_filter: 'content_filter',
  other: 'other',
};

/** A span for one provider call, until the end of its answer. */
export function traceModelCall(tracer: Tracer, call: ModelCall): ModelCallSpan | undefined {
  const { operation, output } = KINDS[call.kind];
  const { provider, model, maxTokens, temperature } = call;
  const span = tracer.startSpan(model === undefined ? operation : `${operation} ${model}`, {
    kind: SpanKind.CLIENT,
    attributes: {
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': PROVIDERS[provider] ?? provider,
      ...(model !== undefined && { 'gen_ai.request.model': model }),
      ...(output !== undefined && { 'gen_ai.output.type': output }),
      ...(maxTokens !== undefined && { 'gen_ai.request.max_tokens': maxTokens }),
      ...(temperature !== undefined && { 'gen_ai.request.temperature': temperature }),
      'questline.own_key': call.ownKey,
    },
  });
  if (!span.isRecording()) {
    span.end();
    return undefined;
  }
  return {
    began: () => void span.addEvent('questline.first_part'),
    ended: (end) => endCall(span, end),
  };
}

function endCall(span: Span, { outcome, error, usage, finishReason, model }: ModelCallEnd): void {
  if (model !== undefined) span.setAttribute('gen_ai.response.model', model);
  if (usage !== undefined) span.setAttributes(usageAttributes(usage));
  if (finishReason !== undefined) {
    span.setAttribute('gen_ai.response.finish_reasons', [FINISH_REASONS[finishReason]]);
  }
  if (outcome === 'failed') fail(span, error);
  if (outcome === 'client_closed') span.setAttribute('questline.client_closed', true);
  span.end();
}

/** Our classes don't overlap; those of the conventions do: all input counts as input, whatever a cache made of it. */
function usageAttributes(usage: Usage): Attributes {
  const { input, output, cachedInput, cacheWrite, reasoning } = usage;
  return {
    ...sum('gen_ai.usage.input_tokens', [input, cachedInput, cacheWrite]),
    ...sum('gen_ai.usage.output_tokens', [output, reasoning]),
    ...sum('gen_ai.usage.cache_read.input_tokens', [cachedInput]),
    ...sum('gen_ai.usage.cache_creation.input_tokens', [cacheWrite]),
    ...sum('gen_ai.usage.reasoning.output_tokens', [reasoning]),
  };
}

function sum(name: string, counts: readonly (number | undefined)[]): Attributes {
  const known = counts.filter((count) => count !== undefined);
  return known.length === 0 ? {} : { [name]: known.reduce((total, count) => total + count, 0) };
}
