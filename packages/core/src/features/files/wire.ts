import type { WireFile, WireListedFile } from './contract.ts';
import type { FileLink } from './library.ts';
import type { FileRecord } from './records.ts';

/** A file in a list. */
export function toWireListedFile(file: FileRecord): WireListedFile {
  return {
    id: file.id,
    owner_id: file.ownerId,
    file_name: file.name,
    mime_type: file.mimeType,
    file_size: file.size,
    moderation_status: file.status,
    created_at: new Date(file.createdAt).toISOString(),
  };
}

/** @param userId the reader: notes are shown only to users who may change the file. */
export function toWireFile(file: FileRecord, link: FileLink | undefined, userId: string): WireFile {
  const isWriter = file.ownerId === userId || file.writerIds?.includes(userId) === true;
  return {
    ...toWireListedFile(file),
    download_url: link?.url ?? null,
    notes: isWriter ? (file.notes ?? null) : null,
    download_url_expires_at: link === undefined ? null : new Date(link.expiresAt).toISOString(),
  };
}
