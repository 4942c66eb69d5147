import type { ReservationServices } from '../credits/reservations.ts';
import type { CallCost } from '../credits/usage.ts';
import type { Usage } from '../ports/ledger.ts';
import type { CatalogueEntry } from './catalogue.ts';

/** A provider's usage report that was rejected or costs more than the charge. */
export class UsageReportRejected extends Error {
  override readonly name = 'UsageReportRejected';
  readonly provider: string;
  readonly model: string;
  readonly reported: Usage;
  /** The charged usage. */
  readonly charged: Usage;
  /** Whole micro-credits. */
  readonly amount: number;

  constructor(provider: string, model: string, reported: Usage, { usage, amount }: CallCost) {
    super(
      `${provider} reported ${JSON.stringify(reported)} for ${model}; charged were ${amount} micro-credits for ${JSON.stringify(usage)}`,
    );
    this.provider = provider;
    this.model = model;
    this.reported = reported;
    this.charged = usage;
    this.amount = amount;
  }
}

/** Compares the name, not the class: the ESM and CommonJS builds of this module may both be loaded. */
export function isUsageReportRejected(error: unknown): error is UsageReportRejected {
  return error instanceof Error && error.name === 'UsageReportRejected';
}

/** Reports a usage report that is not charged in full. */
export function reportRejectedUsage(
  { onError }: Pick<ReservationServices, 'onError'>,
  { operation, requestId }: { readonly operation: string; readonly requestId: string },
  { provider, info }: CatalogueEntry,
  cost: CallCost,
): void {
  if (cost.rejected === undefined) return;
  onError({
    operation,
    requestId,
    error: new UsageReportRejected(provider.id, info.id, cost.rejected, cost),
  });
}
