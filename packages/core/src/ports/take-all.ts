import type { KeyedTake, RateDecision, RateLimiter } from './limiter.ts';
import type { CallOptions } from './options.ts';

/** `takeAll` of the limiter, or of a limiter that was written without it: one take after the other. */
export async function takeAll(
  limiter: Pick<RateLimiter, 'take' | 'takeAll'>,
  takes: readonly KeyedTake[],
  now: number,
  options?: CallOptions,
): Promise<readonly RateDecision[]> {
  return limiter.takeAll === undefined
    ? takeInTurn(limiter, takes, now, options)
    : limiter.takeAll(takes, now, options);
}

/** One take after the other, until one is refused. */
export async function takeInTurn(
  limiter: Pick<RateLimiter, 'take'>,
  takes: readonly KeyedTake[],
  now: number,
  options?: CallOptions,
): Promise<readonly RateDecision[]> {
  const decisions: RateDecision[] = [];
  for (const { key, windows } of takes) {
    const decision = await limiter.take(key, windows, now, options);
    decisions.push(decision);
    if (!decision.allowed) break;
  }
  return decisions;
}
