import { countCharacters } from '../credits/estimates.ts';
import { meterMedia } from '../credits/media.ts';
import { charge, type Prices, pricesAt } from '../credits/pricing.ts';
import { chargeDetails, type ReservationServices } from '../credits/reservations.ts';
import type { Usage } from '../ports/ledger.ts';
import type { GenerationRecord, Wish } from './records.ts';

/** The prices of what is wished for. */
export function pricesOf(prices: Prices, wish: Wish): Prices {
  return 'resolution' in wish ? pricesAt(prices, wish.resolution) : prices;
}

/** The most it may cost. Whole micro-credits. @param mostBytes no result is larger. */
export function reservationOf(prices: Prices, wish: Wish, mostBytes: number): number {
  return charge(prices, usageOf(wish, wish.durationSeconds, mostBytes));
}

/** What it came to: never longer than what was asked for, however long the provider says it is. */
export function dueOf(
  { prices, wish }: Pick<GenerationRecord, 'prices' | 'wish'>,
  made: { readonly seconds: number | undefined; readonly bytes: number; readonly usage?: Usage | undefined },
): NonNullable<GenerationRecord['due']> {
  const { seconds = wish.durationSeconds } = made;
  const most = usageOf(wish, Math.min(seconds, wish.durationSeconds), made.bytes);
  return meterMedia(prices, most, made.usage);
}

function usageOf({ prompt }: Wish, seconds: number, bytes: number): Usage {
  return { seconds, characters: countCharacters(prompt), bytes };
}

/** Charges what was made, once however often it is tried. @returns what was charged. Rejects while the ledger is away. */
export async function settle(
  { ledger }: ReservationServices,
  operation: string,
  record: GenerationRecord,
): Promise<number | undefined> {
  const { hold, payer, requestId, model, id } = record;
  const { amount, usage } = record.due ?? { amount: 0, usage: {} };
  if (hold !== undefined) return (await ledger.settle(hold, amount, usage)).charged;
  const details = chargeDetails({ operation, payer, requestId, model });
  await ledger.record({ account: payer.account, key: id, details, usage });
  return undefined;
}

/** Gives back what was held. Never rejects: what stays held lapses by itself. */
export async function release(
  services: ReservationServices,
  operation: string,
  { hold, requestId }: GenerationRecord,
): Promise<void> {
  if (hold === undefined) return;
  await services.ledger.release(hold).catch((error: unknown) => {
    services.onError({ operation, requestId, error });
  });
}
