import { defineEventSource } from '../../events/source.ts';
import { FILES, type FileRecord } from './records.ts';

/** Moderated uploads. Generated files are stored as clean and cause no event. */
export const fileEvents = defineEventSource<FileRecord>({
  collection: FILES,
  matches: ({ status }) => status === 'clean' || status === 'blocked',
  toEvents({ before, after: { id, ownerId, status } }) {
    if (before?.status === status || (status !== 'clean' && status !== 'blocked')) return [];
    return [{ type: `file.${status}`, data: { id, userId: ownerId } }];
  },
});
