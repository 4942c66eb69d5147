import { createHash } from 'node:crypto';
import type { Observer } from '../observability/observer.ts';
import type { Clock } from '../ports/clock.ts';
import type { Usage } from '../ports/ledger.ts';
import { defineCollection, type Store, type StoredRecord } from '../ports/store.ts';
import type { Incident } from '../shared/incident.ts';
import { isUsageReportRejected, type UsageReportRejected } from './usage-reports.ts';

/** Usage reports of one model that were not charged in full: their number and the last one. */
export interface RejectedUsageRecord extends StoredRecord {
  readonly provider: string;
  readonly model: string;
  readonly count: number;
  readonly lastAt: number;
  readonly reported: Usage;
  readonly charged: Usage;
  /** The charged micro-credits. */
  readonly amount: number;
}

export const REJECTED_USAGE = defineCollection<RejectedUsageRecord>({
  name: 'rejected_usage',
  columns: { count: 'integer' },
  unique: [],
  indexes: [],
});

/** Wraps `onError`: records rejected usage reports and passes all incidents on. */
export function watchUsageReports(
  onError: (incident: Incident) => void,
  { store, clock, observer }: { store: Store; clock: Clock; observer: Observer | undefined },
): (incident: Incident) => void {
  const records = store.collection(REJECTED_USAGE);

  const keep = async ({ provider, model, reported, charged, amount }: UsageReportRejected): Promise<void> => {
    const id = createHash('sha256').update(`${provider}\n${model}`).digest('hex').slice(0, 24);
    const last = { lastAt: clock.now(), reported, charged, amount };
    if (await records.insert({ id, provider, model, count: 1, ...last })) return;
    await records.add(id, { count: 1 });
    await records.update(id, last);
  };

  return (incident) => {
    onError(incident);
    const { error, operation, requestId } = incident;
    if (!isUsageReportRejected(error)) return;
    const { provider, model, reported, charged, amount } = error;
    observer?.usageRejected?.({ operation, provider, model, reported, charged, amount });
    keep(error).catch((failure: unknown) => onError({ operation, requestId, error: failure }));
  };
}
