import type { FinishReason, ModelPart } from '@questline/core/ports';

/** @param model which one the answer says it comes from. */
export function finishPart(reason: FinishReason, model: string | undefined): ModelPart {
  return { type: 'finish', reason, ...(model !== undefined && { model }) };
}
