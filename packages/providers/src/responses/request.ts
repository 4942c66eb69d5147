import type { GenerateRequest, ReasoningEffort } from '@questline/core/ports';
import { chooseEffort } from '../content/effort.ts';
import { fitEffort } from '../content/effort-levels.ts';
import { isStrictSchema } from '../content/strict-schema.ts';
import { type InputDialect, toInputItems } from './input.ts';

/*
 * The request of the Responses API, by the types of the npm package `openai` 7.57.0 (November 2026):
 * https://developers.openai.com/api/reference/resources/responses/methods/create
 */

type Json = Record<string, unknown>;

/** The differences between vendors of the Responses API. */
export interface ResponseDialect extends InputDialect {
  /** Whether the model reasons: it accepts an effort and returns encrypted reasoning. */
  reasons(model: string): boolean;
  /** The effort levels of the model. Undefined: unknown. */
  getEffortLevels(model: string): readonly ReasoningEffort[] | undefined;
  /** Whether the model accepts `temperature` and `top_p`. */
  takesSampling(model: string): boolean;
  /** Whether `top_k` and `seed` are fields of the vendor's API. */
  readonly hasSeed: boolean;
  /** The vendor's minimum of `max_output_tokens`. */
  readonly minOutputTokens: number;
}

/**
 * The request body of a streamed response that the vendor does not store.
 * @throws ProviderError `invalid_request` for content the protocol has no place for.
 */
export function createResponseBody(
  request: GenerateRequest,
  dialect: ResponseDialect,
  options: { readonly withReasoning: boolean },
): Json {
  const { model, tools = [], parallelToolCalls, toolChoice, promptCache } = request;
  const isSampling = dialect.takesSampling(model);
  const cacheKey = promptCache?.mode === 'auto' ? promptCache.key : undefined;
  return {
    model,
    input: [...jsonReminder(request), ...toInputItems(request, dialect, options)],
    store: false,
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({
        type: 'function',
        name,
        description,
        parameters,
        // The API's own default would make every parameter required.
        strict: false,
      })),
      ...(toolChoice !== undefined && { tool_choice: toToolChoice(toolChoice) }),
      ...(parallelToolCalls !== undefined && { parallel_tool_calls: parallelToolCalls }),
    }),
    max_output_tokens: Math.max(request.maxTokens, dialect.minOutputTokens),
    ...(isSampling && request.temperature !== undefined && { temperature: request.temperature }),
    ...(isSampling && request.topP !== undefined && { top_p: request.topP }),
    ...(dialect.hasSeed && request.topK !== undefined && { top_k: request.topK }),
    ...(dialect.hasSeed && request.seed !== undefined && { seed: request.seed }),
    ...reasoningFields(request, dialect),
    ...(request.responseFormat !== undefined && { text: { format: toFormat(request.responseFormat) } }),
    ...(cacheKey !== undefined && { prompt_cache_key: cacheKey }),
    stream: true,
  };
}

/** Summaries only when the caller requests reasoning: some accounts need verification for them. */
function reasoningFields(request: GenerateRequest, dialect: ResponseDialect): Json {
  const { model } = request;
  if (!dialect.reasons(model)) return {};
  const asked = chooseEffort(request);
  const effort = asked === undefined ? undefined : fitEffort(asked, dialect.getEffortLevels(model));
  const reasoning = {
    ...(effort !== undefined && { effort }),
    ...(request.thinking !== undefined && effort !== 'none' && { summary: 'auto' }),
  };
  return {
    ...(Object.keys(reasoning).length > 0 && { reasoning }),
    include: ['reasoning.encrypted_content'],
  };
}

function toToolChoice(choice: NonNullable<GenerateRequest['toolChoice']>): unknown {
  return typeof choice === 'string' ? choice : { type: 'function', name: choice.name };
}

function toFormat(format: NonNullable<GenerateRequest['responseFormat']>): Json {
  if (format.type === 'json') return { type: 'json_object' };
  const name = format.name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'answer';
  const strict = format.strict ?? isStrictSchema(format.schema);
  return { type: 'json_schema', name, schema: format.schema, strict };
}

/** The API rejects JSON mode unless a message contains the word JSON. */
function jsonReminder({ responseFormat, messages }: GenerateRequest): Json[] {
  const speaks = messages.some(({ content }) =>
    content.some((piece) => piece.type === 'text' && /json/i.test(piece.text)),
  );
  if (responseFormat?.type !== 'json' || speaks) return [];
  return [{ role: 'system', content: 'Answer with one JSON object.' }];
}
