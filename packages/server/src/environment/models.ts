import type { Values } from './schema.ts';

/** The server at OPENAI_BASE_URL. */
export type OpenAIServer = Readonly<NonNullable<ReturnType<typeof toOpenAIServer>>>;

/** Connection settings for providers. Times are milliseconds, 0: no limit; absent: the provider's default. */
export type ProviderLimits = Readonly<ReturnType<typeof toProviderLimits>>;

export function toOpenAIServer(values: Values) {
  const { OPENAI_BASE_URL: baseUrl } = values;
  if (baseUrl === undefined) return undefined;
  return {
    baseUrl,
    // What this variable meant before there was a choice: an upgrade changes no request.
    protocol: values.OPENAI_PROTOCOL ?? 'chat',
    /** `openai`: the models of OpenAI; `list`: the models that the server lists; or names. */
    models: values.OPENAI_MODELS ?? ('openai' as const),
    /** Context window in tokens, for models that report none. */
    contextWindow: values.OPENAI_CONTEXT_WINDOW || undefined,
    supportsTools: values.OPENAI_TOOLS,
    maxTokensParameter: values.OPENAI_MAX_TOKENS_PARAMETER,
    /** USD per million tokens. Undefined: unknown. */
    prices: values.OPENAI_PRICES,
  };
}

export function toProviderLimits(values: Values) {
  const limits = {
    connections: values.PROVIDER_CONNECTIONS,
    connectTimeoutMs: values.PROVIDER_CONNECT_TIMEOUT_MS,
    firstByteTimeoutMs: values.PROVIDER_FIRST_BYTE_TIMEOUT_MS,
    idleTimeoutMs: values.PROVIDER_IDLE_TIMEOUT_MS,
    keepAliveMs: values.PROVIDER_KEEP_ALIVE_MS,
  };
  const given = Object.entries(limits).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as Partial<Record<keyof typeof limits, number>>;
}
