import { expect, it } from 'vitest';
import { signPolicy } from '../src/forms.ts';
import { createS3Objects } from '../src/index.ts';

const KEYS = {
  region: 'us-east-1',
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};

/** The example of Amazon's reference, "Example: browser-based upload using HTTP POST", with its line ends. */
const EXAMPLE = [
  '{ "expiration": "2015-12-30T12:00:00.000Z",',
  '  "conditions": [',
  '    {"bucket": "sigv4examplebucket"},',
  '    ["starts-with", "$key", "user/user1/"],',
  '    {"acl": "public-read"},',
  '    {"success_action_redirect": "http://sigv4examplebucket.s3.amazonaws.com/successful_upload.html"},',
  '    ["starts-with", "$Content-Type", "image/"],',
  '    {"x-amz-meta-uuid": "14365123651274"},',
  '    {"x-amz-server-side-encryption": "AES256"},',
  '    ["starts-with", "$x-amz-meta-tag", ""],',
  '',
  '    {"x-amz-credential": "AKIAIOSFODNN7EXAMPLE/20151229/us-east-1/s3/aws4_request"},',
  '    {"x-amz-algorithm": "AWS4-HMAC-SHA256"},',
  '    {"x-amz-date": "20151229T000000Z" }',
  '  ]',
  '}',
].join('\r\n');

it('signs a policy like the published example', () => {
  const policy = Buffer.from(EXAMPLE).toString('base64');
  expect(signPolicy(policy, '20151229', KEYS)).toBe(
    '8afdbf4008c03f22c2cd3cdb72e4afbb1f6a588f3255ac628749a66d7f09699e',
  );
});

it('limits a form to one object, size, type and bucket until an expiry, without other fields', async () => {
  const objects = createS3Objects({
    ...KEYS,
    endpoint: 'https://s3.example.com',
    bucket: 'things',
    prefix: 'here/',
    style: 'host',
  });
  const expiresAt = Date.now() + 60_000;
  const form = await objects.signPost?.({ key: 'uploads/1', contentType: 'audio/mpeg', size: 7, expiresAt });
  expect(form?.url).toBe('https://things.s3.example.com');
  const { policy = '', 'x-amz-signature': signature, ...fields } = form?.fields ?? {};
  expect(fields).toMatchObject({ key: 'here/uploads/1', 'Content-Type': 'audio/mpeg' });
  expect(JSON.parse(Buffer.from(policy, 'base64').toString())).toEqual({
    expiration: new Date(expiresAt).toISOString(),
    conditions: [
      { bucket: 'things' },
      ...Object.entries(fields).map(([name, value]) => ({ [name]: value })),
      ['content-length-range', 7, 7],
    ],
  });
  expect(signature).toBe(signPolicy(policy, fields['x-amz-date']?.slice(0, 8) ?? '', KEYS));
});
