import {
  type Idempotency,
  type IdempotentRequest,
  REPLAYED_HEADER,
} from '../../../operations/idempotency.ts';

export interface OnceServices {
  readonly idempotency: Idempotency;
}

export interface WholeAnswer<A> {
  /** JSON. */
  readonly answer: A;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Runs a paid call that is not streamed once per `Idempotency-Key`.
 * @param whenLeft whether the call goes on and is charged after the client has disconnected.
 * @throws ApiError as `Idempotency.once`; the error of `work`.
 */
export async function answerOnce<A>(
  { idempotency }: OnceServices,
  request: IdempotentRequest,
  whenLeft: 'finish' | 'stop',
  work: () => Promise<A>,
): Promise<WholeAnswer<A>> {
  const { answer, isRepeated } = await idempotency.once(request, async (onCharge) => {
    try {
      return await work();
    } catch (error) {
      if (whenLeft === 'finish' && request.call.signal.aborted) onCharge();
      throw error;
    }
  });
  return { answer, headers: isRepeated ? { [REPLAYED_HEADER]: 'true' } : {} };
}
