import type { WireFile, WireListedFile } from './contract.ts';
import type { FileLink } from './library.ts';
import type { FileRecord } from './records.ts';

/** A file in a list. */
export function toWireListedFile(file: FileRecord): WireListedFile {
  return {
    id: file.id,
    file_name: file.name,
    mime_type: file.mimeType,
    file_size: file.size,
    moderation_status: file.status,
    created_at: new Date(file.createdAt).toISOString(),
  };
}

export function toWireFile(file: FileRecord, link: FileLink | undefined): WireFile {
  return {
    ...toWireListedFile(file),
    download_url: link?.url ?? null,
    download_url_expires_at: link === undefined ? null : new Date(link.expiresAt).toISOString(),
  };
}
