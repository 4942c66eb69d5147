import type { ModelPart, ThinkingBlock } from '../../../ports/models.ts';
import type { LiveWriter } from '../../../runs/live-writer.ts';
import type { CompletionEncoder, CompletionEnd } from '../encoder.ts';
import { describeCost, describeError } from '../event-encoder.ts';
import { toWireThinking } from '../thinking.ts';
import type { StoredCompletion, StoredOutcome } from './records.ts';

/** The final fields of a stored completion. */
export type StoredEnd = Required<Pick<StoredCompletion, 'status' | 'model' | 'text' | 'outcome'>>;

/** An encoder that also writes live events. */
export interface Recorder extends CompletionEncoder {
  /** The text so far. */
  text(): string;
  /** Set once the last frames are encoded. */
  ended(): StoredEnd | undefined;
}

export function createRecorder(
  encoder: CompletionEncoder,
  live: Pick<LiveWriter, 'emit' | 'startRound'>,
  { getModel, creditsPerUsd }: { readonly getModel: () => string; readonly creditsPerUsd: number },
): Recorder {
  const round = live.startRound(1);
  const tools: NonNullable<StoredOutcome['tools']>[number][] = [];
  const thinking: ThinkingBlock[] = [];
  let text = '';
  let ended: StoredEnd | undefined;

  const conclude = (status: StoredEnd['status'], end: CompletionEnd, more: StoredOutcome): void => {
    const outcome = {
      ...(tools.length > 0 && { tools }),
      ...(thinking.length > 0 && { thinking }),
      ...describeCost(end, creditsPerUsd),
      ...more,
    };
    ended = { status, model: getModel(), text, outcome };
  };

  return {
    head: encoder.head,
    text: () => text,
    ended: () => ended,
    add(part: ModelPart) {
      if (part.type === 'text') {
        text += part.text;
        live.emit({ type: 'text', text: part.text });
      } else if (part.type === 'thinking') thinking.push(toWireThinking(part.block));
      else if (part.type === 'tool_use')
        tools.push({ id: part.id, name: part.name, arguments: part.arguments });
      round.part(part);
      encoder.add(part);
    },
    flush: () => encoder.flush(),
    end(end) {
      const { finishReason, cost } = end;
      const hasReason = cost !== undefined && finishReason !== undefined;
      conclude('done', end, hasReason ? { stopReason: finishReason } : {});
      return encoder.end(end);
    },
    fail(error, end) {
      conclude('failed', end, { error: describeError(error) });
      return encoder.fail(error, end);
    },
  };
}
