import { join } from 'node:path';
import { createDirectoryObjects } from '@questline/core/directory';
import type { ObjectStore } from '@questline/core/ports';
import { CliError } from '../cli-error.ts';
import type { Configuration, S3Configuration } from '../environment/configuration.ts';
import { getReason } from './reasons.ts';

/** Timeout for reaching the bucket at the start, in milliseconds. */
const TIMEOUT_MS = 10_000;

/**
 * Opens the object store: a bucket if one is configured, otherwise the storage folder. The demo uses a separate folder.
 * Browsers reach a bucket through this server unless a public endpoint is set: most buckets have no CORS rules, and many
 * are reachable only from servers.
 * @throws CliError that names the variable when the bucket cannot be used. Changes nothing in it.
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
  check: () => Promise<'there' | 'missing' | 'refused' | 'elsewhere'>,
): Promise<void> {
  const state = await check().catch((error: unknown) => {
    throw new CliError([`S3_ENDPOINT: ${unreachable(error)}`]);
  });
  switch (state) {
    case 'missing':
      throw new CliError([`S3_BUCKET: there is no bucket ${bucket}; create it first`]);
    case 'refused':
      throw new CliError([
        `S3_ACCESS_KEY_ID: access to ${bucket} is denied; check it and S3_SECRET_ACCESS_KEY`,
      ]);
    case 'elsewhere':
      throw new CliError([`S3_REGION: ${bucket} is not in the region ${region}`]);
    default:
  }
}

function unreachable(error: unknown): string {
  if (error instanceof Error && 'status' in error) return `it answers with ${String(error.status)}`;
  if (error instanceof DOMException) return getReason(new Error('timed out'));
  // The store and a failed fetch have their reason in `cause`.
  return error instanceof Error && error.cause !== undefined ? unreachable(error.cause) : getReason(error);
}
