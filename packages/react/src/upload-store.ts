import {
  type Client,
  type Progress,
  type QuestlineError,
  type StoredFile,
  type UploadOptions,
  upload,
} from '@questline/client';
import { toError } from './error.ts';
import { type Attachable, createState } from './state.ts';

export interface UploadState {
  /** `checking`: all bytes are sent, and the server checks the file. `failed`: `error` says why. */
  readonly status: 'idle' | 'uploading' | 'checking' | 'done' | 'failed';
  readonly progress: Progress | undefined;
  /** The stored file. */
  readonly file: StoredFile | undefined;
  readonly error: QuestlineError | undefined;
}

export interface UploadStore extends Attachable<UploadState> {
  upload(file: Blob, options?: Pick<UploadOptions, 'name' | 'type'>): Promise<StoredFile | undefined>;
  cancel(): void;
}

const IDLE: UploadState = { status: 'idle', progress: undefined, file: undefined, error: undefined };

export function createUpload(client: Client): UploadStore {
  const state = createState(IDLE);
  let current: AbortController | undefined;
  const cancel = (): void => {
    current?.abort();
    current = undefined;
    state.set(IDLE);
  };
  return {
    state,
    cancel,
    attach: () => () => {
      if (current !== undefined) cancel();
    },
    async upload(file, options = {}) {
      cancel();
      const controller = new AbortController();
      current = controller;
      const update = (changes: Partial<UploadState>): void => {
        if (current === controller) state.update(changes);
      };
      state.set({ ...IDLE, status: 'uploading', progress: { loaded: 0, total: file.size } });
      const onProgress = (progress: Progress): void =>
        update({ progress, status: progress.loaded === progress.total ? 'checking' : 'uploading' });
      try {
        const stored = await upload(client, file, { ...options, onProgress, signal: controller.signal });
        update({ status: 'done', file: stored });
        return stored;
      } catch (error) {
        update({ status: 'failed', error: toError(error) });
        return undefined;
      } finally {
        if (current === controller) current = undefined;
      }
    },
  };
}
