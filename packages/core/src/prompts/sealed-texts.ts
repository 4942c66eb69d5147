import type { SecretBox } from '../models/secret-box.ts';
import type { PromptDetail } from './contract.ts';

/* The system prompt of a request is for one turn. It is stored only encrypted and bound to its quest. */

const requestPlace = (questId: string) => ['quest-system-prompt', questId];
const shownPlace = (questId: string) => ['quest-shown-prompt', questId];

/** The encrypted system prompt in a job. */
export function sealSystemPrompt(
  box: SecretBox,
  questId: string,
  systemPrompt: string | undefined,
): { sealedSystemPrompt?: string } {
  if (systemPrompt === undefined) return {};
  return { sealedSystemPrompt: box.seal(systemPrompt, requestPlace(questId)) };
}

/** @returns undefined without a sealed text, or if it was encrypted with another key. */
export function openSystemPrompt(
  box: SecretBox,
  questId: string,
  { sealedSystemPrompt, systemPrompt }: { sealedSystemPrompt?: unknown; systemPrompt?: unknown },
): string | undefined {
  if (typeof sealedSystemPrompt === 'string') return box.open(sealedSystemPrompt, requestPlace(questId));
  // Jobs from an earlier version.
  return typeof systemPrompt === 'string' ? systemPrompt : undefined;
}

/** The requested prompt details. */
export interface ShownPrompt {
  readonly details?: boolean;
  readonly text?: boolean;
}

/** The prompt details that a quest stores. */
interface StoredPrompt {
  readonly promptDetails?: readonly PromptDetail[];
  readonly sealedPrompt?: string;
}

/** Returns the prompt details to store in a quest. */
export function keepPrompt(
  box: SecretBox,
  questId: string,
  shows: ShownPrompt | undefined,
  prompt: { readonly shownText: string; readonly details: readonly PromptDetail[] },
): StoredPrompt {
  return {
    ...(shows?.details === true && { promptDetails: prompt.details }),
    ...(shows?.text === true && { sealedPrompt: box.seal(prompt.shownText, shownPlace(questId)) }),
  };
}

/** Returns the prompt details for a user. Only the user who requested them sees them. */
export function showPrompt(
  box: SecretBox,
  {
    id,
    ownerId,
    promptDetails,
    sealedPrompt,
  }: StoredPrompt & { readonly id: string; readonly ownerId: string },
  userId: string,
): { promptDetails?: PromptDetail[]; promptText?: string } {
  if (userId !== ownerId) return {};
  const promptText = sealedPrompt === undefined ? undefined : box.open(sealedPrompt, shownPlace(id));
  return {
    ...(promptDetails !== undefined && { promptDetails: [...promptDetails] }),
    ...(promptText !== undefined && { promptText }),
  };
}
