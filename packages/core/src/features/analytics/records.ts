import { defineCollection, type Json, type StoredRecord } from '../../ports/store.ts';

/** A client event, as the client reported it. */
export interface AnalyticsEventRecord extends StoredRecord {
  readonly userId: string;
  readonly event: string;
  readonly properties: Readonly<Record<string, Json | undefined>>;
  readonly createdAt: number;
}

export const ANALYTICS_EVENTS = defineCollection<AnalyticsEventRecord>({
  name: 'analytics_events',
  columns: { userId: 'text', event: 'text', createdAt: 'integer' },
  unique: [],
  indexes: [['createdAt'], ['event', 'createdAt'], ['userId', 'createdAt']],
});
