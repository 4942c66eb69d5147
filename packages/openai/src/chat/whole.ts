import { type CompletionEnd, toWireCredits, toWireThinking } from '@questline/core/internal';
import type { ModelPart, ThinkingBlock } from '@questline/core/ports';
import { toWireUsage } from '../usage.ts';
import { type ChatCompletion, toFinishReason, type WireToolCall } from './wire.ts';

/** Collects the parts of an answer that is not streamed. */
export interface WholeAnswer {
  add(part: ModelPart): void;
  finish(
    about: Pick<ChatCompletion, 'id' | 'created' | 'model'>,
    end: CompletionEnd,
    creditsPerUsd: number,
  ): ChatCompletion;
}

export function createWholeAnswer(): WholeAnswer {
  const calls: WireToolCall[] = [];
  const thinking: ThinkingBlock[] = [];
  let text = '';
  let reasoning = '';
  return {
    add(part) {
      if (part.type === 'text') text += part.text;
      else if (part.type === 'thinking_delta') reasoning += part.text;
      else if (part.type === 'thinking') thinking.push(toWireThinking(part.block));
      else if (part.type === 'tool_use') {
        const { id, name, arguments: input } = part;
        calls.push({ id, type: 'function', function: { name, arguments: input } });
      }
    },
    finish({ id, created, model }, end, creditsPerUsd) {
      const credits = toWireCredits(end, creditsPerUsd);
      return {
        id,
        object: 'chat.completion',
        created,
        model,
        choices: [
          {
            index: 0,
            message: {
              role: 'assistant',
              content: text === '' && calls.length > 0 ? null : text,
              refusal: null,
              ...(calls.length > 0 && { tool_calls: calls }),
              ...(reasoning !== '' && { reasoning_content: reasoning }),
              ...(thinking.length > 0 && { reasoning_details: thinking }),
            },
            logprobs: null,
            finish_reason: toFinishReason(end.finishReason, calls.length > 0),
          },
        ],
        usage: toWireUsage(end),
        ...(credits !== undefined && { credits }),
      };
    },
  };
}
