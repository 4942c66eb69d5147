import { createHmac } from 'node:crypto';
import type { SignedUpload, UploadOptions } from '@questline/core/ports';
import { amzDate, type S3Options } from './client.ts';

/** A form whose policy allows one object, of one size and type, until an instant. @see AWS "Browser-based uploads", version 4 */
export function signForm(options: S3Options, url: string, terms: UploadOptions): SignedUpload {
  const { contentType, size, expiresAt } = terms;
  const key = `${options.prefix ?? ''}${terms.key}`;
  const date = amzDate(Date.now());
  const day = date.slice(0, 8);
  const fields: Record<string, string> = {
    key,
    'Content-Type': contentType,
    'x-amz-algorithm': 'AWS4-HMAC-SHA256',
    'x-amz-credential': `${options.accessKeyId}/${day}/${options.region}/s3/aws4_request`,
    'x-amz-date': date,
    ...(options.sessionToken !== undefined && { 'x-amz-security-token': options.sessionToken }),
  };
  const policy = {
    expiration: new Date(expiresAt).toISOString(),
    conditions: [
      { bucket: options.bucket },
      ...Object.entries(fields).map(([name, value]) => ({ [name]: value })),
      ['content-length-range', size, size],
    ],
  };
  fields.policy = Buffer.from(JSON.stringify(policy)).toString('base64');
  fields['x-amz-signature'] = signPolicy(fields.policy, day, options);
  return { url, fields, expiresAt };
}

/** Signature version 4 of a policy, which is base64 already. */
export function signPolicy(
  policy: string,
  day: string,
  { secretAccessKey, region }: Pick<S3Options, 'secretAccessKey' | 'region'>,
): string {
  const key = [day, region, 's3', 'aws4_request'].reduce<string | Buffer>(
    (secret, text) => createHmac('sha256', secret).update(text).digest(),
    `AWS4${secretAccessKey}`,
  );
  return createHmac('sha256', key).update(policy).digest('hex');
}
