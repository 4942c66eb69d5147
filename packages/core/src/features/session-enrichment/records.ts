import { defineCollection, type StoredRecord } from '../../ports/store.ts';

/** The enrichment slot of a session. Its id is the session's. */
export interface EnrichmentPlaceRecord extends StoredRecord {
  readonly questId: string;
}

export const ENRICHMENT_SLOTS = defineCollection<EnrichmentPlaceRecord>({
  name: 'enrichment_places',
  columns: { questId: 'text' },
  unique: [],
  indexes: [],
});
