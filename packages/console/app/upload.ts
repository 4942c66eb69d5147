import { call } from './api.ts';
import type { WorkspaceFile } from './records.ts';

const LOOK_AGAIN_MS = 400;
const LOOKS = 100;

interface Announced {
  readonly id: string;
  readonly upload_url: string;
}

/**
 * Announces a file, sends its bytes and waits until it has been checked.
 * @throws Error in words for people when it may not be used.
 */
export async function upload(file: File): Promise<string> {
  const mimeType = file.type === '' ? 'application/octet-stream' : file.type;
  const { id, upload_url } = await call<Announced>('POST', '/api/v1/files', {
    file_name: file.name,
    mime_type: mimeType,
    file_size: file.size,
  });
  const sent = await fetch(upload_url, { method: 'PUT', body: file, headers: { 'Content-Type': mimeType } });
  if (!sent.ok) throw new Error(`${file.name} could not be uploaded: the server answered ${sent.status}`);
  for (let look = 0; look < LOOKS; look += 1) {
    const { moderation_status } = await call<WorkspaceFile>('GET', `/api/v1/files/${id}`);
    if (moderation_status === 'clean') return id;
    if (moderation_status === 'blocked') throw new Error(`${file.name} was checked and must not be used`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
  throw new Error(`${file.name} is still being checked; try again later`);
}
