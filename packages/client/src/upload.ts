import type { Client } from './client.ts';
import { QuestlineError } from './error.ts';
import type { CallOptions } from './operation.ts';
import { createFileUpload, type GetFileResponse, getFile, putObject } from './operations.ts';
import { poll } from './poll.ts';
import { type Progress, progress } from './progress.ts';

export type StoredFile = GetFileResponse;

export interface UploadOptions extends Pick<CallOptions, 'signal'> {
  /** Default: the name of a `File`, else `file`. */
  readonly name?: string;
  /** The media type. Default: that of the blob, else `application/octet-stream`. */
  readonly type?: string;
  readonly onProgress?: (progress: Progress) => void;
}

/** Attempts to transfer the bytes. */
const MAX_TRANSFERS = 4;
const FIRST_DELAY_MS = 1000;

/**
 * Uploads a file and waits for the check of the server. Resolves when the file can be used; rejects with the code
 * `file_blocked` if the check has blocked it. A transfer that breaks off is repeated as a whole: the API stores no parts.
 */
export async function upload(client: Client, file: Blob, options: UploadOptions = {}): Promise<StoredFile> {
  const { signal } = options;
  const type = options.type ?? (file.type === '' ? 'application/octet-stream' : file.type);
  const name = options.name ?? (file as { name?: string }).name ?? 'file';
  const { id, upload_url: link } = await client.call(
    createFileUpload,
    { body: { file_name: name, mime_type: type, file_size: file.size } },
    { signal },
  );
  await transfer(client, { id, link, file, type }, options);
  let last: StoredFile | undefined;
  const isFinal = ({ moderation_status: status }: StoredFile): boolean =>
    status === 'clean' || status === 'blocked';
  for await (const state of poll(client, getFile, { params: { id } }, { signal, isFinal })) last = state;
  if (last?.moderation_status !== 'clean')
    throw new QuestlineError('The check of the server has blocked the file.', {
      code: 'file_blocked',
      body: last,
    });
  return last;
}

interface Transfer {
  readonly id: string;
  readonly link: string;
  readonly file: Blob;
  readonly type: string;
}

async function transfer(
  client: Client,
  { id, link, file, type }: Transfer,
  { signal, onProgress }: UploadOptions,
): Promise<void> {
  const callOptions: CallOptions = {
    signal,
    headers: { 'content-type': type },
    ...(onProgress !== undefined && { transport: progress(onProgress) }),
  };
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await client.call(putObject, { link, body: file }, callOptions);
    } catch (error) {
      if (!isRepeatable(error) || attempt === MAX_TRANSFERS) throw error;
    }
    await client.wait(FIRST_DELAY_MS * 2 ** (attempt - 1), signal);
    // The answer may be lost, not the bytes.
    const { moderation_status: status } = await client.call(getFile, { params: { id } }, { signal });
    if (status !== 'pending') return;
  }
}

/** 409: the server has not noticed yet that the transfer before broke off. */
function isRepeatable(error: unknown): boolean {
  if (!(error instanceof QuestlineError)) return false;
  const { status, code } = error;
  return code === 'network_error' || status === 409 || (status ?? 0) >= 500;
}
