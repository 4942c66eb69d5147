import { defineCollection, type StoredRecord } from '../../ports/store.ts';

/** A recording with an upload URL. Callers refer to it by its id; used once. */
export interface TranscriptionUploadRecord extends StoredRecord {
  readonly ownerId: string;
  readonly objectKey: string;
  readonly mimeType: string;
  /** Bytes. */
  readonly size: number;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

export const TRANSCRIPTION_UPLOADS = defineCollection<TranscriptionUploadRecord>({
  name: 'transcription_uploads',
  columns: { ownerId: 'text', expiresAt: 'integer' },
  unique: [],
  indexes: [['ownerId']],
});
