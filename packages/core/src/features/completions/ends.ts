import type { CompletionAnswer } from './answer.ts';
import type { CompletionEnd } from './encoder.ts';

/** The reason to stop a provider. */
export const LEFT = new Error('the client has disconnected');

export function describeEnd({ money }: CompletionAnswer, cost: CompletionEnd['cost']): CompletionEnd {
  return { cost, isMetered: money?.isMetered === true, finishReason: money?.meter.finishReason };
}
