import { type CompletionEnd, toWireCredits } from '@questline/core/internal';
import type { ModelPart } from '@questline/core/ports';
import { toMessageUsage, toWireUsage } from '../usage.ts';
import { type BlockSink, BlockWriter } from './blocks.ts';
import type { ContentBlock, WireMessage } from './wire.ts';
import { emptyMessage } from './wire.ts';

/** Collects the parts of an answer that is not streamed. */
export interface MessageCollector {
  add(part: ModelPart): void;
  finish(about: Pick<WireMessage, 'id' | 'model'>, end: CompletionEnd, creditsPerUsd: number): WireMessage;
}

export function createMessageCollector(): MessageCollector {
  const content: ContentBlock[] = [];
  let text = '';
  let signature = '';
  const sink: BlockSink = {
    start(_index, block) {
      content.push(block);
      text = '';
      signature = '';
    },
    delta(_index, delta) {
      if (delta.type === 'text_delta') text += delta.text;
      else if (delta.type === 'thinking_delta') text += delta.thinking;
      else if (delta.type === 'input_json_delta') text += delta.partial_json;
      else signature = delta.signature;
    },
    stop(index) {
      const block = content[index];
      if (block !== undefined) content[index] = fill(block, text, signature);
    },
  };
  const blocks = new BlockWriter(sink);
  return {
    add: (part) => blocks.add(part),
    finish({ id, model }, end, creditsPerUsd) {
      blocks.close();
      const credits = toWireCredits(end, creditsPerUsd);
      return {
        ...emptyMessage({ id, model, usage: toMessageUsage(toWireUsage(end)) }),
        content,
        ...blocks.describeStop(end.finishReason),
        ...(credits !== undefined && { credits }),
      };
    },
  };
}

function fill(block: ContentBlock, text: string, signature: string): ContentBlock {
  switch (block.type) {
    case 'text':
      return { ...block, text };
    case 'thinking':
      return { ...block, thinking: text, signature };
    case 'tool_use':
      return { ...block, input: JSON.parse(text) };
    case 'redacted_thinking':
      return block;
  }
}
