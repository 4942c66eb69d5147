import { join } from 'node:path';
import type { ObjectStore } from '@questline/core';
import { createDirectoryObjects } from '@questline/core/directory';
import type { Configuration } from '../environment/configuration.ts';

/** Where the bytes of files are: in a bucket when one is named, else in the storage folder. A demo's stand apart. */
export async function openObjects(
  { s3, storageDir }: Pick<Configuration, 's3' | 'storageDir'>,
  demo: boolean,
): Promise<ObjectStore> {
  if (s3 === undefined) {
    return createDirectoryObjects({ folder: join(storageDir, demo ? 'demo-objects' : 'objects') });
  }
  const { createS3Objects } = await import('@questline/s3');
  return createS3Objects({ ...s3, prefix: demo ? 'questline-demo/' : 'questline/' });
}
