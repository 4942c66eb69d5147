import { hash } from 'node:crypto';
import { parseDataUrl } from '../../contract/data-url.ts';
import type { AdminSettingsReader } from '../../operations/admin-settings.ts';
import type { Moderator } from '../../ports/moderator.ts';
import { isWebToolError, type WebTools } from '../../ports/web.ts';
import { ApiError, invalid, isApiError } from '../../shared/errors.ts';
import type { Incident } from '../../shared/incident.ts';
import type { FileLibrary } from '../files/library.ts';
import type { FileSettings } from '../files/settings.ts';
import { checkAnnounced } from '../files/uploads.ts';
import type { SentFile } from './ui-message.ts';

/** Maximum bytes of the files of one message. */
const MAX_BYTES = 25 * 2 ** 20;
const FETCHED_TYPES = ['image/', 'text/', 'application/', 'audio/', 'video/'];

export interface UiFileServices {
  readonly library: FileLibrary;
  readonly web: WebTools;
  /** Null turns moderation off. */
  readonly moderator: Moderator | null;
  readonly adminSettings: AdminSettingsReader;
  readonly fileSettings: FileSettings;
  readonly onError: (incident: Incident) => void;
}

interface Uploaded {
  readonly mimeType: string;
  readonly content: Uint8Array;
}

interface Sender {
  readonly userId: string;
  readonly signal: AbortSignal;
}

/**
 * Stores the files of a message among those of its user, each once, and returns their ids. Moderates them at once: the turn
 * needs them.
 * @throws ApiError 422 that names the URL of a file that is not accepted; 503 when a file cannot be moderated or stored.
 */
export type SaveUiFiles = (files: readonly SentFile[], sender: Sender) => Promise<string[]>;

export function createSaveUiFiles(services: UiFileServices): SaveUiFiles {
  const { library } = services;

  const save = async (file: SentFile, { mimeType, content }: Uploaded, sender: Sender): Promise<string> => {
    const { name, path } = file;
    const { userId, signal } = sender;
    await checkAnnounced(services, mimeType, content.length).catch((error: unknown) => {
      throw isApiError(error) ? invalid(path, error.message.replace(/^\w+: /, '')) : error;
    });
    const digest = hash('sha256', content, 'hex');
    const id = hash('sha256', JSON.stringify(['file', userId, name, mimeType, digest]), 'hex').slice(0, 24);
    if ((await library.get(userId, id)) !== undefined) return id;
    await moderate(services, file, { mimeType, content }, signal);
    const saved = await library.save(userId, { id, name, mimeType, content, source: 'upload' }, { signal });
    if (saved.file?.status === 'clean') return id;
    if (saved.skipped === 'error') throw unavailable();
    throw invalid(
      path,
      saved.skipped === 'storage_limit' ? 'the storage quota is used up' : 'is not accepted',
    );
  };

  return async (files, sender) => {
    const ids: string[] = [];
    let bytesLeft = MAX_BYTES;
    for (const file of files) {
      const loaded = await load(services.web, file, bytesLeft, sender.signal);
      bytesLeft -= loaded.content.length;
      if (bytesLeft < 0) throw invalid(file.path, `the files together are larger than ${MAX_BYTES} bytes`);
      ids.push(await save(file, loaded, sender));
    }
    return ids;
  };
}

async function load(
  web: WebTools,
  { url, path }: SentFile,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Uploaded> {
  if (/^data:/i.test(url)) {
    const { mediaType, data } = parseDataUrl(url, path, invalid);
    return { mimeType: mediaType, content: Buffer.from(data, 'base64') };
  }
  if (web.fetchFile === undefined) throw invalid(path, 'this server cannot fetch URLs; send the data');
  if (maxBytes === 0) throw invalid(path, `the files together are larger than ${MAX_BYTES} bytes`);
  try {
    const { mediaType, data } = await web.fetchFile(url, { accept: FETCHED_TYPES, maxBytes }, { signal });
    return { mimeType: mediaType, content: data };
  } catch (error) {
    signal.throwIfAborted();
    if (isWebToolError(error)) throw invalid(path, error.message.replace(/^url: /, ''));
    throw error;
  }
}

async function moderate(
  { moderator, onError }: UiFileServices,
  { name, path }: SentFile,
  { mimeType, content }: Uploaded,
  signal: AbortSignal,
): Promise<void> {
  if (moderator === null) return;
  async function* stream(): AsyncGenerator<Uint8Array> {
    yield content;
  }
  const file = {
    name,
    mimeType,
    size: content.length,
    stream,
    read: async (start: number, end: number) => content.subarray(start, end),
  };
  const verdict = await moderator.check(file, { signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    onError({ operation: 'files.moderate', requestId: '', error });
    throw unavailable();
  });
  if (verdict.isClean) return;
  const error = new Error(`a file of a message was blocked: ${verdict.reason}`);
  onError({ operation: 'files.blocked', requestId: '', error });
  throw invalid(path, 'is not accepted');
}

function unavailable(): ApiError {
  return new ApiError(503, 'The file could not be stored. Try again shortly.');
}
