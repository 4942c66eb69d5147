import { meterMedia } from '../../credits/media.ts';
import { charge, type Prices, pricesAt } from '../../credits/pricing.ts';
import { chargeDetails, type ReservationServices } from '../../credits/reservations.ts';
import type { Usage } from '../../ports/ledger.ts';
import { countCharacters } from '../../shared/characters.ts';
import type { GenerationRecord, MediaInput } from './records.ts';

/** The prices for the requested resolution. */
export function getPrices(prices: Prices, input: MediaInput): Prices {
  return 'resolution' in input ? pricesAt(prices, input.resolution) : prices;
}

/** The maximum cost. Whole micro-credits. @param maxBytes the maximum size of a result. */
export function getReservation(prices: Prices, input: MediaInput, maxBytes: number): number {
  return charge(prices, toUsage(input, input.durationSeconds, maxBytes));
}

/** The actual cost: never for more seconds than requested, whatever the provider reports. */
export function getDue(
  { prices, input }: Pick<GenerationRecord, 'prices' | 'input'>,
  made: { readonly seconds: number | undefined; readonly bytes: number; readonly usage?: Usage | undefined },
): NonNullable<GenerationRecord['due']> {
  const { seconds = input.durationSeconds } = made;
  const most = toUsage(input, Math.min(seconds, input.durationSeconds), made.bytes);
  return meterMedia(prices, most, made.usage);
}

/**
 * The cost of a cancelled generation that the provider completed anyway: as requested, at most the held amount. Where the
 * price depends on the size alone and the size is unknown, the whole held amount.
 */
export function dueOfCancelled(
  record: Pick<GenerationRecord, 'prices' | 'input' | 'reserved'>,
  made: { readonly bytes: number; readonly usage?: Usage | undefined } = { bytes: 0 },
): NonNullable<GenerationRecord['due']> {
  const { amount, usage } = getDue(record, { seconds: undefined, ...made });
  const isUnknown = amount === 0 && made.bytes === 0;
  return { amount: isUnknown ? record.reserved : Math.min(amount, record.reserved), usage };
}

function toUsage({ prompt }: MediaInput, seconds: number, bytes: number): Usage {
  return { seconds, characters: countCharacters(prompt), bytes };
}

/** Charges the result once, however often it is retried. @returns the charged amount. Rejects while the ledger is unavailable. */
export async function settle(
  { ledger }: ReservationServices,
  operation: string,
  record: GenerationRecord,
): Promise<number | undefined> {
  const { hold, payer, requestId, model, id } = record;
  const { amount, usage } = record.due ?? { amount: 0, usage: {} };
  const details = chargeDetails({ operation, payer, requestId, model });
  if (hold !== undefined) return (await ledger.settle(hold, amount, usage, details)).charged;
  await ledger.record({ account: payer.account, key: id, details, usage });
  return undefined;
}

/** Releases the hold. Never rejects: a hold that stays expires by itself. */
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
