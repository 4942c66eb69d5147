import type { ModelInfo, ModelPrices } from '@questline/core/ports';

/** A text model with image input, tool calls and streaming, as all current models of the vendors have. */
export function textModel(
  id: string,
  name: string,
  contextWindow: number,
  maxOutputTokens: number,
  prices: ModelPrices,
  description: string,
  more: Partial<ModelInfo> = {},
): ModelInfo {
  return {
    id,
    name,
    type: 'text',
    provider: '',
    description,
    contextWindow,
    maxOutputTokens,
    supportsStreaming: true,
    supportsThinking: true,
    supportsTools: true,
    supportsVision: true,
    prices,
    ...more,
  };
}

export function embeddingModel(
  id: string,
  name: string,
  { contextWindow, dimensions, input }: { contextWindow: number; dimensions: number; input: number },
): ModelInfo {
  const prices = { input };
  return { id, name, type: 'embedding', provider: '', contextWindow, maxOutputTokens: 0, dimensions, prices };
}
