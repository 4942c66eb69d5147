import type { LanguageModelV4, LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider';
import type { GenerateRequest, ModelChunk, ModelPart } from '@questline/core/ports';
import { type AiSdkCall, type AiSdkModel, createAiSdkProvider } from '../src/index.ts';

export const usage: LanguageModelV4Usage = {
  inputTokens: { total: 12, noCache: 12, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 },
};

export const finish: Extract<LanguageModelV4StreamPart, { type: 'finish' }> = {
  type: 'finish',
  usage,
  finishReason: { unified: 'stop', raw: 'end_turn' },
};

export function textParts(...deltas: string[]): LanguageModelV4StreamPart[] {
  return [
    { type: 'text-start', id: '0' },
    ...deltas.map((delta): LanguageModelV4StreamPart => ({ type: 'text-delta', id: '0', delta })),
    { type: 'text-end', id: '0' },
  ];
}

export interface Scripted {
  readonly model: LanguageModelV4;
  /** Its calls, oldest first. */
  readonly calls: AiSdkCall[];
  /** The reasons of cancelled streams. */
  readonly cancelled: unknown[];
}

export type Script =
  | readonly LanguageModelV4StreamPart[]
  | ((controller: ReadableStreamDefaultController<LanguageModelV4StreamPart>) => void)
  | { readonly refuse: unknown }
  | { readonly wait: Promise<void> };

/**
 * A model that conforms to the interface and is controlled by the test. `fields` overwrite its properties.
 */
export function scripted(
  script: Script,
  fields: Partial<Record<keyof LanguageModelV4, unknown>> = {},
): Scripted {
  const calls: AiSdkCall[] = [];
  const cancelled: unknown[] = [];
  const model: LanguageModelV4 = {
    specificationVersion: 'v4',
    provider: 'test.chat',
    modelId: 'test-model',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('only streams')),
    async doStream(call) {
      calls.push(call);
      if ('refuse' in script) throw script.refuse;
      if ('wait' in script) await script.wait;
      const stream = new ReadableStream<LanguageModelV4StreamPart>({
        start(controller) {
          if (typeof script === 'function') script(controller);
          else if (Array.isArray(script)) {
            for (const part of script as LanguageModelV4StreamPart[]) controller.enqueue(part);
            controller.close();
          }
        },
        cancel(reason) {
          cancelled.push(reason);
        },
      });
      return { stream };
    },
    ...(fields as object),
  };
  return { model, calls, cancelled };
}

export function getProvider(model: AiSdkModel['model'], fields: Partial<AiSdkModel> = {}) {
  return createAiSdkProvider({
    id: 'bridge',
    models: [{ id: 'm', contextWindow: 1000, maxOutputTokens: 100, ...fields, model }],
  });
}

export const hello: GenerateRequest = {
  model: 'm',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
  maxTokens: 50,
};

export async function getChunks(stream: AsyncIterable<ModelChunk>): Promise<ModelChunk[]> {
  const chunks: ModelChunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

/** The complete answer of a model. */
export async function getAnswer(
  model: AiSdkModel['model'],
  request: Partial<GenerateRequest> = {},
  fields: Partial<AiSdkModel> = {},
): Promise<ModelPart[]> {
  const stream = await getProvider(model, fields).generate({ ...hello, ...request }, {});
  return (await getChunks(stream)).flat() as ModelPart[];
}

/** The error of a call; fails if the call succeeds. */
export async function toFailure(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('expected a failure');
}

export const spoken = (parts: readonly ModelPart[]) =>
  parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
