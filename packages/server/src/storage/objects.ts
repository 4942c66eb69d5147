import { join } from 'node:path';
import type { ObjectStore } from '@questline/core';
import { createDirectoryObjects } from '@questline/core/directory';
import type { Configuration, S3Configuration } from '../environment/configuration.ts';
import { Mistake } from '../mistake.ts';
import { reasonOf } from './reasons.ts';

/** So long the bucket is waited for at the start. */
const TIMEOUT_MS = 10_000;

/**
 * Where the bytes of files are: in a bucket when one is named, else in the storage folder. A demo's stand apart.
 * Browsers reach a bucket through this server, unless it is said where they reach it themselves: most buckets have no
 * rules for pages of other origins, and many stand where only servers get.
 * @throws Mistake naming the variable when the bucket cannot be used. Nothing is changed in it.
 */
export async function openObjects(
  { s3, storageDir }: Pick<Configuration, 's3' | 'storageDir'>,
  demo: boolean,
): Promise<ObjectStore> {
  if (s3 === undefined) {
    return createDirectoryObjects({ folder: join(storageDir, demo ? 'demo-objects' : 'objects') });
  }
  const { createS3Objects, lookAtBucket } = await import('@questline/s3');
  await assertBucket(s3, () => lookAtBucket(s3, { signal: AbortSignal.timeout(TIMEOUT_MS) }));
  const { publicEndpoint, ...reached } = s3;
  const prefix = demo ? 'questline-demo/' : 'questline/';
  if (publicEndpoint !== undefined) return createS3Objects({ ...reached, publicEndpoint, prefix });
  const { head, put, get, remove } = createS3Objects({ ...reached, prefix });
  return { head, put, get, remove };
}

async function assertBucket(
  { bucket, region }: S3Configuration,
  look: () => Promise<'there' | 'missing' | 'refused' | 'elsewhere'>,
): Promise<void> {
  const state = await look().catch((error: unknown) => {
    throw new Mistake([`S3_ENDPOINT: ${unreachable(error)}`]);
  });
  switch (state) {
    case 'missing':
      throw new Mistake([`S3_BUCKET: there is no bucket ${bucket}; it is not made by itself`]);
    case 'refused':
      throw new Mistake([
        `S3_ACCESS_KEY_ID: it is not let into ${bucket}; compare it and S3_SECRET_ACCESS_KEY with the service's own`,
      ]);
    case 'elsewhere':
      throw new Mistake([`S3_REGION: ${bucket} is in another region than ${region}`]);
    default:
  }
}

function unreachable(error: unknown): string {
  if (error instanceof Error && 'status' in error) return `it answers with ${String(error.status)}`;
  if (error instanceof DOMException) return reasonOf(new Error('timed out'));
  // A failed fetch tells why in its cause.
  return reasonOf(error instanceof TypeError ? (error.cause ?? error) : error);
}
