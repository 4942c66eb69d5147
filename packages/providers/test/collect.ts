import {
  type GenerateRequest,
  isProviderError,
  type ModelChunk,
  type ModelPart,
  type ModelProvider,
  type ProviderError,
} from '@questline/core/ports';

export const hello: GenerateRequest = {
  model: 'test-model',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
  maxTokens: 100,
};

export function readParts(chunk: ModelChunk): readonly ModelPart[] {
  return Array.isArray(chunk) ? (chunk as readonly ModelPart[]) : [chunk as ModelPart];
}

/** Reads a stream to its end. */
export async function drain(stream: AsyncIterable<ModelChunk>): Promise<ModelPart[]> {
  const parts: ModelPart[] = [];
  for await (const chunk of stream) parts.push(...readParts(chunk));
  return parts;
}

/** Returns a complete answer. */
export async function answer(
  provider: ModelProvider,
  request: GenerateRequest = hello,
  options: { apiKey?: string; signal?: AbortSignal } = {},
): Promise<ModelPart[]> {
  return drain(await provider.generate(request, options));
}

/** Returns the `ProviderError` of a call; fails if the call succeeds or has another error. */
export async function failure(call: Promise<unknown>): Promise<ProviderError> {
  let value: unknown;
  try {
    value = await call;
  } catch (error) {
    if (isProviderError(error)) return error;
    throw new Error(`not a provider error: ${String(error)}`, { cause: error });
  }
  throw new Error(`expected a failure: ${JSON.stringify(value)}`);
}

/** Runs `work` for every number below `count`, with limited parallelism. */
export async function each(
  count: number,
  work: (number: number) => Promise<void>,
  atOnce = 16,
): Promise<void> {
  let next = 0;
  const run = async () => {
    while (next < count) {
      const number = next;
      next += 1;
      await work(number);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, run));
}
