import type { GenerateRequest, ModelContent } from '../ports/models.ts';
import { charge, type Prices } from './pricing.ts';

/** How much a model is given to read. */
export interface PromptSize {
  /** Code points of all text and tool schemas. */
  readonly characters: number;
  readonly images: number;
}

/** Fewer than real text has, so that the estimate errs on the side of too many tokens. */
const charactersPerToken = 2.5;
const tokensPerImage = 1000;
/** A page of a scanned or typeset document is about this long, and is read like an image. */
const documentBytesPerImage = 32 * 1024;

const highSurrogate = /[\uD800-\uDBFF]/;

/** Code points, as JSON Schema counts them: a surrogate pair is one, a lone surrogate too. */
export function countCharacters(text: string): number {
  let count = text.length;
  // The search costs next to nothing on text without any, and most text has none.
  if (!highSurrogate.test(text)) return count;
  for (let index = count - 2; index >= 0; index--) {
    if ((text.charCodeAt(index) & 0xfc00) !== 0xd800) continue;
    if ((text.charCodeAt(index + 1) & 0xfc00) === 0xdc00) count--;
  }
  return count;
}

/** Tokens that a number of characters is taken for, when nobody counted them. */
export function estimateTokens(characters: number): number {
  return Math.ceil(characters / charactersPerToken);
}

/** Input tokens that a prompt is taken for. */
export function estimateInput(size: PromptSize): number {
  return estimateTokens(size.characters) + size.images * tokensPerImage;
}

/**
 * What must be free before a text model is called, in whole micro-credits: the estimated input, and all of the output
 * it may give, at the prices of plain input and output.
 * @param size with `maxTokens`: the output cap of the call, whole, 0 or more.
 */
export function reservation(prices: Prices, size: PromptSize & { readonly maxTokens: number }): number {
  return charge(prices, { input: estimateInput(size), output: size.maxTokens });
}

/** Measures a request once, for its reservation and for the estimate should the provider never say what it used. */
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
