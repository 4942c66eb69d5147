import type { Payer } from '../contract/call.ts';
import type { SpendCap } from '../ports/caps.ts';

/** Returns the current spend cap of a key, or of a user of the host. Each period has its own cap. */
export function getSpendCap(payer: Payer, now: number): SpendCap | undefined {
  if (payer.spendCap === undefined) return undefined;
  const { amount, period } = payer.spendCap;
  const date = new Date(now).toISOString();
  const part = period === 'total' ? 'total' : date.slice(0, period === 'day' ? 10 : 7);
  const owner = payer.keyId === undefined ? `user:${payer.userId}` : `key:${payer.keyId}`;
  return { id: `${owner}:${part}`, limit: amount };
}
