import type { FinishReason, ModelPart } from '@questline/core/ports';

/** @param model which one the answer says it comes from. @param stopSequence which one ended the answer. */
export function finishPart(
  reason: FinishReason,
  model: string | undefined,
  stopSequence?: string | undefined,
): ModelPart {
  return {
    type: 'finish',
    reason,
    ...(model !== undefined && { model }),
    ...(stopSequence !== undefined && { stopSequence }),
  };
}
