import type { PeriodicTask } from '../jobs/engine.ts';
import type { ArchivedCharge } from '../ports/ledger.ts';
import { hashSecret } from '../shared/secrets.ts';
import type { Services } from './services.ts';

const DAY_MS = 86_400_000;
/** Charges of one call of the archive: short enough that no statement holds others up. */
const BATCH = 200;
/** Charges of one run of the periodic task. */
const RUN_LIMIT = 10_000;

const ID_LENGTH = 16;

/** About the charges of one call. */
export interface ChargeBatch {
  /** Lower-case letters, digits and hyphens. Other charges have another one; the same ones have it when they come again. */
  readonly id: string;
  readonly charges: number;
  /** The time of the first and of the last call, in epoch milliseconds. */
  readonly from: number;
  readonly to: number;
}

/** Where old charges go. */
export interface ChargeArchiveSettings {
  /** Days after which charges leave the ledger, 90 to 36,500. */
  readonly days: number;
  /**
   * Stores lines: one JSON object per charge, each with a line break, at most 200. After a rejection the charges stay, and
   * come again. After a crash they may come again, too, with the same ids.
   */
  readonly archive: (lines: string, batch: ChargeBatch) => Promise<void>;
}

type ArchiveServices = Pick<Services, 'chargeArchive' | 'clock' | 'ledger'>;

/** Moves charges to the archive in bounded runs. None without the setting. */
export function createChargeArchiveTasks(services: ArchiveServices): readonly PeriodicTask[] {
  if (services.chargeArchive === undefined) return [];
  return [{ name: 'archive-charges', everyMs: 600_000, run: () => archiveCharges(services, RUN_LIMIT) }];
}

/** Moves up to `max` charges. @returns their number. */
export async function archiveCharges(services: ArchiveServices, max: number): Promise<number> {
  const { chargeArchive, ledger } = services;
  if (chargeArchive === undefined || ledger.archiveCharges === undefined) return 0;
  const before = getArchiveTime(services, chargeArchive);
  let total = 0;
  while (total < max) {
    const limit = Math.min(BATCH, max - total);
    const moved = await ledger.archiveCharges({ before, limit }, async (charges) => {
      const [first] = charges;
      const last = charges.at(-1);
      if (first === undefined || last === undefined) return;
      await chargeArchive.archive(charges.map(toLine).join(''), {
        id: `${first.id}-${hashSecret(charges.map(({ id }) => id).join()).slice(0, ID_LENGTH)}`,
        charges: charges.length,
        from: first.createdAt,
        to: last.createdAt,
      });
    });
    total += moved;
    if (moved < limit) break;
  }
  return total;
}

/** Returns the number of charges that can be moved now. */
export async function countArchivable(services: ArchiveServices): Promise<number> {
  const { chargeArchive, ledger } = services;
  if (chargeArchive === undefined) return 0;
  return (await ledger.countArchivable?.(getArchiveTime(services, chargeArchive))) ?? 0;
}

function getArchiveTime({ clock }: ArchiveServices, { days }: ChargeArchiveSettings): number {
  return clock.now() - days * DAY_MS;
}

function toLine(charge: ArchivedCharge): string {
  return `${JSON.stringify(charge)}\n`;
}
