import type { GenerateRequest, ModelContent } from '../ports/models.ts';
import { countCharacters } from '../shared/characters.ts';
import { charge, type Prices } from './pricing.ts';

/** The size of a model's input. */
export interface PromptSize {
  /** Code points of all text and tool schemas. */
  readonly characters: number;
  readonly images: number;
}

/** Fewer than in real text, so that the estimate is too high rather than too low. */
const charactersPerToken = 2.5;
const tokensPerImage = 1000;
/** Approximate bytes of one scanned or typeset page. A page costs about as much as an image. */
const documentBytesPerImage = 32 * 1024;

/** Estimates tokens from characters. */
export function estimateTokens(characters: number): number {
  return Math.ceil(characters / charactersPerToken);
}

/** Estimates the input tokens of a prompt. */
export function estimateInput(size: PromptSize): number {
  return estimateTokens(size.characters) + size.images * tokensPerImage;
}

/**
 * Estimates the amount to hold before a text model call, in micro-credits: estimated input plus maximum output, at
 * the uncached input and output prices. @param size with `maxTokens`: the output limit of the call, an integer of 0
 * or more.
 */
export function reservation(prices: Prices, size: PromptSize & { readonly maxTokens: number }): number {
  return charge(prices, { input: estimateInput(size), output: size.maxTokens });
}

/** Measures a request once, for its reservation and for the fallback estimate if the provider never reports usage. */
export function promptSize(request: Pick<GenerateRequest, 'messages' | 'tools'>): PromptSize {
  let characters = 0;
  let images = 0;
  for (const message of request.messages) {
    for (const content of message.content) {
      if (content.type === 'image') images += 1;
      else if (content.type === 'document') {
        const bytes = Math.floor((content.data.length * 3) / 4);
        if (content.mediaType.startsWith('text/')) characters += bytes;
        else images += Math.ceil(bytes / documentBytesPerImage);
      } else characters += contentCharacters(content);
    }
  }
  for (const tool of request.tools ?? []) {
    characters += countCharacters(tool.name) + countCharacters(tool.description);
    characters += countCharacters(JSON.stringify(tool.parameters));
  }
  return { characters, images };
}

function contentCharacters(content: Exclude<ModelContent, { readonly type: 'image' | 'document' }>): number {
  switch (content.type) {
    case 'text':
      return countCharacters(content.text);
    case 'tool_use':
      return countCharacters(content.name) + countCharacters(JSON.stringify(content.input) ?? '');
    case 'tool_result':
      return countCharacters(content.content);
    case 'thinking':
      return countCharacters(JSON.stringify(content.block));
  }
}
