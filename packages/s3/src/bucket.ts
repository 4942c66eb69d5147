import { createS3Client, type S3Options } from './client.ts';

/** The state of a bucket: `refused` means wrong credentials, `elsewhere` another region. */
export type BucketState = 'there' | 'missing' | 'refused' | 'elsewhere';

/**
 * Checks whether a bucket exists and grants access. Changes nothing.
 * @throws StorageUnavailable when the service is unreachable or fails, Error for any other answer; messages never contain the credentials.
 */
export async function lookAtBucket(
  options: S3Options,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<BucketState> {
  const client = createS3Client({ ...options, prefix: '' });
  const { status } = await client.send({ method: 'HEAD', key: '', signal }, [301, 307, 400, 401, 403, 404]);
  if (status === 404) return 'missing';
  if (status === 401 || status === 403) return 'refused';
  // For a wrong region, the service redirects or rejects the signature.
  return status < 300 ? 'there' : 'elsewhere';
}
