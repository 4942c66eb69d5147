import { AwsClient } from 'aws4fetch';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createS3Objects } from '../src/index.ts';
import { OPTIONS, storeWith } from './service.ts';

const NOW = Date.UTC(2026, 10, 21, 12);
const { prefix: _, ...WITHOUT_PREFIX } = OPTIONS;

beforeEach(() => {
  vi.useFakeTimers({ now: NOW, toFake: ['Date'] });
  return () => void vi.useRealTimers();
});

async function signGet(options: Partial<typeof OPTIONS>, terms: object = {}, ms = 60_000): Promise<URL> {
  const objects = createS3Objects({ ...OPTIONS, ...options });
  return new URL((await objects.signGet?.('a/b', { expiresAt: NOW + ms, ...terms })) ?? '');
}

it('signs a link for reading with its expiry, key and time', async () => {
  const { origin, pathname, searchParams } = await signGet({ sessionToken: 'token' });
  expect(origin + pathname).toBe('https://s3.example.com/things/here/a/b');
  const { 'X-Amz-Signature': signature, ...query } = Object.fromEntries(searchParams);
  expect(signature).toMatch(/^[0-9a-f]{64}$/);
  expect(query).toEqual({
    'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
    'X-Amz-Credential': 'key-id/20261121/eu-central-1/s3/aws4_request',
    'X-Amz-Date': '20261121T120000Z',
    'X-Amz-Expires': '60',
    'X-Amz-Security-Token': 'token',
    'X-Amz-SignedHeaders': 'host',
  });
});

it.each([
  [1999, '1'],
  [2000, '2'],
  [0, '1'],
  [-5000, '1'],
])('rounds %s ms until the expiry to %s s', async (ms, seconds) => {
  expect((await signGet({}, {}, ms)).searchParams.get('X-Amz-Expires')).toBe(seconds);
});

it('fixes the type and the name of the answer in the link', async () => {
  const { searchParams } = await signGet({}, { contentType: 'text/plain', attachment: 'a.txt' });
  expect(searchParams.get('response-content-type')).toBe('text/plain');
  expect(searchParams.get('response-content-disposition')).toMatch(/^attachment; filename="a\.txt"/);
});

describe('the address of a link', () => {
  it.each([
    ['in the host name', { style: 'host' }, 'https://things.s3.example.com/here/a/b'],
    ['at another port', { endpoint: 'http://localhost:9000' }, 'http://localhost:9000/things/here/a/b'],
    ['behind a path', { endpoint: 'https://example.com/s3//' }, 'https://example.com/s3/things/here/a/b'],
    [
      'in the host name before a path',
      { endpoint: 'http://example.com:81/s3/', style: 'host' },
      'http://things.example.com:81/s3/here/a/b',
    ],
    [
      'for browsers',
      { publicEndpoint: 'https://cdn.example.com' },
      'https://cdn.example.com/things/here/a/b',
    ],
  ] as const)('has the bucket %s', async (_name, options, href) => {
    const { origin, pathname } = await signGet(options);
    expect(origin + pathname).toBe(href);
  });

  it('has the key alone without a prefix', async () => {
    const objects = createS3Objects(WITHOUT_PREFIX);
    const url = new URL((await objects.signGet?.('a', { expiresAt: NOW + 1000 })) ?? '');
    expect(url.pathname).toBe('/things/a');
  });
});

it('requests objects at the endpoint of the service, not at that for browsers', async () => {
  const { received } = storeWith(404);
  await createS3Objects({ ...OPTIONS, publicEndpoint: 'https://cdn.example.com' }).head('a');
  expect(received[0]?.url.origin).toBe('https://s3.example.com');
  expect(received[0]?.headers.get('authorization')).toMatch(
    /^AWS4-HMAC-SHA256 Credential=key-id\/20261121\/eu-central-1\/s3\/aws4_request,/,
  );
});

it('signs the type and the size of an upload', async () => {
  const terms = { key: 'a', contentType: 'audio/mpeg', size: 7, expiresAt: NOW + 60_000 };
  const upload = await createS3Objects(OPTIONS).signPut?.(terms);
  expect(upload).toMatchObject({ fields: { 'content-type': 'audio/mpeg' }, expiresAt: NOW + 60_000 });
  const { pathname, searchParams } = new URL(upload?.url ?? '');
  expect(pathname).toBe('/things/here/a');
  expect(searchParams.get('X-Amz-SignedHeaders')).toBe('content-length;content-type;host');
  const others = await Promise.all(
    [{ size: 8 }, { contentType: 'audio/wav' }, { key: 'b' }, {}].map(async (other) => {
      const signed = await createS3Objects(OPTIONS).signPut?.({ ...terms, ...other });
      return new URL(signed?.url ?? '').searchParams.get('X-Amz-Signature');
    }),
  );
  expect(others.map((signature) => signature === searchParams.get('X-Amz-Signature'))).toEqual([
    false,
    false,
    false,
    true,
  ]);
});

it('signs an upload as a PUT', async () => {
  const { accessKeyId, secretAccessKey, region } = OPTIONS;
  const aws = new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3' });
  const expected = await aws.sign('https://s3.example.com/things/here/a?X-Amz-Expires=60', {
    method: 'PUT',
    headers: { 'content-type': 'audio/mpeg', 'content-length': '7' },
    aws: { signQuery: true, allHeaders: true, datetime: '20261121T120000Z' },
  });
  const terms = { key: 'a', contentType: 'audio/mpeg', size: 7, expiresAt: NOW + 60_000 };
  expect((await createS3Objects(OPTIONS).signPut?.(terms))?.url).toBe(expected.url);
});

it('describes a form with the date, the key of the account and the session', async () => {
  const objects = createS3Objects({ ...WITHOUT_PREFIX, sessionToken: 'token' });
  const form = await objects.signPost?.({ key: 'a', contentType: 'audio/mpeg', size: 7, expiresAt: NOW + 1 });
  const { policy: _policy, 'x-amz-signature': __, ...fields } = form?.fields ?? {};
  expect(form).toMatchObject({ url: 'https://s3.example.com/things', expiresAt: NOW + 1 });
  expect(fields).toEqual({
    key: 'a',
    'Content-Type': 'audio/mpeg',
    'x-amz-algorithm': 'AWS4-HMAC-SHA256',
    'x-amz-credential': 'key-id/20261121/eu-central-1/s3/aws4_request',
    'x-amz-date': '20261121T120000Z',
    'x-amz-security-token': 'token',
  });
});
