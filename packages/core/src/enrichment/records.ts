import { defineCollection, type StoredRecord } from '../ports/store.ts';

/** The one place for enrichment that a session has. Its id is the session's. */
export interface EnrichmentPlaceRecord extends StoredRecord {
  readonly questId: string;
}

export const ENRICHMENT_PLACES = defineCollection<EnrichmentPlaceRecord>({
  name: 'enrichment_places',
  columns: { questId: 'text' },
  unique: [],
  indexes: [],
});
