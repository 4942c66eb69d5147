import { createS3Client, type S3Options } from './client.ts';

/** What becomes of work with a bucket: `refused` is about who asks, `elsewhere` about the region. */
export type BucketState = 'there' | 'missing' | 'refused' | 'elsewhere';

/**
 * Looks whether a bucket is there and lets these credentials in. It changes nothing.
 * @throws TypeError when nobody answers, and Error for an answer that says neither; none quotes the credentials.
 */
export async function lookAtBucket(
  options: S3Options,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<BucketState> {
  const client = createS3Client({ ...options, prefix: '' });
  const { status } = await client.send({ method: 'HEAD', key: '', signal }, [301, 307, 400, 401, 403, 404]);
  if (status === 404) return 'missing';
  if (status === 401 || status === 403) return 'refused';
  // A service with regions sends whoever asks in another one away, or does not understand the signature.
  return status < 300 ? 'there' : 'elsewhere';
}
