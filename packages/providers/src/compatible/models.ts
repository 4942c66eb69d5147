import type { ModelInfo, ModelPrices } from '@questline/core/ports';
import { record, text } from '../content/fields.ts';

/** A model of the server: its name, and the fields that differ from the defaults. */
export type CompatibleModel = { readonly id: string } & Partial<Omit<ModelInfo, 'id' | 'provider'>>;

/** Defaults for all models of a server. */
export interface ModelDefaults {
  /** Tokens. Default 8192. */
  readonly contextWindow?: number | undefined;
  /** Tokens. Default: half the window. */
  readonly maxOutputTokens?: number | undefined;
  /** Default true: chat with tools and agents need it. */
  readonly supportsTools?: boolean | undefined;
  readonly supportsVision?: boolean | undefined;
  readonly supportsThinking?: boolean | undefined;
  /** Absent: the models cannot be used while credits are metered. */
  readonly prices?: ModelPrices | undefined;
}

const DEFAULT_WINDOW = 8192;

/** Builds the complete catalogue entry. */
export function toModelInfo(model: CompatibleModel, provider: string, defaults: ModelDefaults): ModelInfo {
  const { id, type = 'text' } = model;
  const contextWindow = model.contextWindow ?? defaults.contextWindow ?? DEFAULT_WINDOW;
  const { supportsTools = true, supportsVision, supportsThinking, prices } = defaults;
  const isText = type === 'text';
  return {
    name: id,
    type,
    maxOutputTokens: isText
      ? Math.min(defaults.maxOutputTokens ?? Math.floor(contextWindow / 2), contextWindow)
      : 0,
    ...(isText && { supportsStreaming: true, supportsTools }),
    ...(isText && supportsVision !== undefined && { supportsVision }),
    ...(isText && supportsThinking !== undefined && { supportsThinking }),
    ...(prices !== undefined && { prices }),
    ...model,
    contextWindow,
    provider,
  };
}

/**
 * Reads the models of a `GET /models` response. The field of the context window varies: vLLM `max_model_len`, llama.cpp
 * `meta.n_ctx`, LM Studio and Mistral `max_context_length`, Groq `context_window`, OpenRouter `context_length`.
 * Undefined: the response has no list of models.
 */
export function readModelList(answer: unknown): readonly CompatibleModel[] | undefined {
  const { data, models } = record(answer);
  const list = Array.isArray(answer) ? answer : (data ?? models);
  if (!Array.isArray(list)) return undefined;
  const seen = new Set<string>();
  return list.flatMap((entry: unknown) => {
    const id = text(record(entry).id);
    if (id === undefined || seen.has(id)) return [];
    seen.add(id);
    return [readModel(id, record(entry))];
  });
}

function readModel(id: string, entry: Readonly<Record<string, unknown>>): CompatibleModel {
  const meta = record(entry.meta);
  const window = firstCount(
    entry.max_model_len,
    entry.context_length,
    entry.max_context_length,
    entry.context_window,
    meta.n_ctx,
    meta.n_ctx_train,
  );
  const output = firstCount(entry.max_completion_tokens, record(entry.top_provider).max_completion_tokens);
  const abilities = record(entry.capabilities);
  return {
    id,
    ...(isEmbedding(id, entry) && { type: 'embedding' as const }),
    ...(text(entry.name) !== undefined && { name: String(entry.name) }),
    ...(window !== undefined && { contextWindow: window }),
    ...(output !== undefined && { maxOutputTokens: Math.min(output, window ?? output) }),
    ...(typeof abilities.function_calling === 'boolean' && { supportsTools: abilities.function_calling }),
    ...(typeof abilities.vision === 'boolean' && { supportsVision: abilities.vision }),
  };
}

/** Servers have different fields for it, and most only show it in the name. */
function isEmbedding(id: string, { type, task }: Readonly<Record<string, unknown>>): boolean {
  return (
    type === 'embedding' || type === 'embeddings' || task === 'embed' || /embed|(^|\/)bge-|minilm/i.test(id)
  );
}

function firstCount(...values: readonly unknown[]): number | undefined {
  return values.find((value): value is number => Number.isSafeInteger(value) && Number(value) > 0);
}
