import type { FinishReason, ModelPart } from '@questline/core';

/** Longer ones are no names. */
const LONGEST = 200;

export function finishPart(reason: FinishReason, model: string | undefined): ModelPart {
  return { type: 'finish', reason, ...(model !== undefined && { model }) };
}

/** What an answer says which model it comes from. Compatible servers say all kinds of things, or nothing. */
export function modelName(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= LONGEST ? value : undefined;
}
