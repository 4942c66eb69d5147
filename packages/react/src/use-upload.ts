import type { StoredFile, UploadOptions } from '@questline/client';
import { useMemo } from 'react';
import { useAttached } from './attached.ts';
import { useQuestline } from './provider.ts';
import { createUpload, type UploadState } from './upload-store.ts';

export interface Upload extends UploadState {
  /** Uploads a file instead of the one before. Resolves with the stored file, or undefined if it failed. Never rejects. */
  readonly upload: (
    file: Blob,
    options?: Pick<UploadOptions, 'name' | 'type'>,
  ) => Promise<StoredFile | undefined>;
  /** Aborts the upload, or forgets an ended one. */
  readonly cancel: () => void;
}

/** Uploads a file with its progress. Unmounting aborts the upload. */
export function useUpload(): Upload {
  const client = useQuestline();
  const store = useMemo(() => createUpload(client), [client]);
  return { ...useAttached(store), upload: store.upload, cancel: store.cancel };
}
