/** Tokens of an output cap that are reserved for the answer, and their share of small caps. */
const ANSWER_TOKENS = 1000;
const ANSWER_SHARE = 0.25;

/**
 * The thinking budget within an output cap, which leaves tokens for the answer.
 * @param least the vendor's smallest budget.
 * @returns undefined when the cap is too small for both.
 */
export function budgetWithin(maxTokens: number, wanted: number, least: number): number | undefined {
  const most = maxTokens - Math.min(ANSWER_TOKENS, Math.ceil(maxTokens * ANSWER_SHARE));
  return most < least ? undefined : Math.min(Math.max(wanted, least), most);
}
