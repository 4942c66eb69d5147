import { type ImageRequest, type Media, ProviderError, type Usage } from '@questline/core/ports';
import { record, text } from '../content/fields.ts';

/** The request body for one image; the API makes one per call. */
export function pictureBody({ prompt, source, references = [], aspectRatio, seed }: ImageRequest): string {
  const pictures = [...(source === undefined ? [] : [source]), ...references];
  return JSON.stringify({
    contents: [{ role: 'user', parts: [...pictures.map(inline), { text: prompt }] }],
    generationConfig: {
      responseModalities: ['TEXT', 'IMAGE'],
      ...(aspectRatio !== undefined && { imageConfig: { aspectRatio } }),
      ...(seed !== undefined && { seed }),
    },
  });
}

function inline({ mediaType, data }: Media): Record<string, unknown> {
  return { inlineData: { mimeType: mediaType, data: Buffer.from(data).toString('base64') } };
}

/** The image of a response, and its usage. */
export function toImage(answer: unknown): { picture: Media; usage: Usage | undefined } {
  const { candidates, promptFeedback, usageMetadata } = record(answer);
  const { blockReason } = record(promptFeedback);
  if (blockReason !== undefined) {
    throw new ProviderError('content_blocked', `refused the prompt: ${String(blockReason)}`);
  }
  const { content, finishReason } = record(Array.isArray(candidates) ? candidates[0] : undefined);
  const { parts } = record(content);
  for (const part of Array.isArray(parts) ? parts.map(record) : []) {
    const { mimeType, data } = record(part.inlineData);
    const base64 = text(data);
    if (base64 === undefined) continue;
    const { promptTokenCount: input, candidatesTokenCount: output } = record(usageMetadata);
    const isCounted = typeof input === 'number' && typeof output === 'number';
    return {
      picture: { mediaType: text(mimeType) ?? 'image/png', data: Buffer.from(base64, 'base64') },
      usage: isCounted ? { input, output } : undefined,
    };
  }
  throw BLOCKED.test(String(finishReason))
    ? new ProviderError('content_blocked', `drew nothing: ${String(finishReason)}`)
    : new ProviderError('failed', `drew nothing: ${String(finishReason ?? 'no reason')}`);
}

const BLOCKED = /SAFETY|PROHIBITED|BLOCKLIST|SPII|RECITATION/;
