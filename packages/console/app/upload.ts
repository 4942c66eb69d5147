import type { Call } from './api.ts';
import type { WorkspaceFile } from './records.ts';

const POLL_MS = 400;
const MAX_POLLS = 100;

interface Announced {
  readonly id: string;
  readonly upload_url: string;
}

/**
 * Creates a file, uploads its bytes and waits until moderation has finished.
 * @throws Error with a message for users when the file cannot be used.
 */
export async function upload(call: Call, file: File): Promise<string> {
  const mimeType = file.type === '' ? 'application/octet-stream' : file.type;
  const { id, upload_url } = await call<Announced>('POST', '/api/v1/files', {
    file_name: file.name,
    mime_type: mimeType,
    file_size: file.size,
  });
  const sent = await fetch(upload_url, { method: 'PUT', body: file, headers: { 'Content-Type': mimeType } });
  if (!sent.ok) throw new Error(`${file.name} could not be uploaded: the server answered ${sent.status}`);
  for (let poll = 0; poll < MAX_POLLS; poll += 1) {
    const { moderation_status } = await call<WorkspaceFile>('GET', `/api/v1/files/${id}`);
    if (moderation_status === 'clean') return id;
    if (moderation_status === 'blocked') throw new Error(`${file.name} was blocked by moderation`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error(`${file.name} is still being checked; try again later`);
}
