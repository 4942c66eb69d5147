import { createHash } from 'node:crypto';
import { TRANSFERS } from '@questline/core/internal';
import { expect } from 'vitest';
import { NOW, type TestApp } from '../../support/test-app.ts';
import type { Asked } from '../../support/wire.ts';
import { refused, type WireCase } from './case.ts';

const KEY = 'test/1';
const BYTES = 'twelve bytes';
const SIZE = BYTES.length;
const TYPE = 'text/plain';
const BAD_LINK = refused('public', {
  status: 403,
  message: 'This link is invalid, has expired or was already used',
});

const headers = (more: object = {}) => ({
  'accept-ranges': 'bytes',
  'cache-control': 'private, no-store',
  'content-security-policy': "default-src 'none'; sandbox",
  'content-type': TYPE,
  'x-content-type-options': 'nosniff',
  etag: expect.stringMatching(/^"[0-9a-f]{32}"$/) as unknown as string,
  ...more,
});

/** The path and query of a signed link. */
function getPath(link: string | undefined): string {
  return (link ?? '').replace(/^https?:\/\/[^/]+/, '');
}

const download =
  (more: { attachment?: string; contentType?: string; headers?: Record<string, string> } = {}) =>
  async ({ services }: TestApp): Promise<Partial<Asked>> => {
    await services.objects.put(KEY, Buffer.from(BYTES), { contentType: TYPE });
    const { headers: asked = {}, ...terms } = more;
    const link = await services.objectLinks.get(KEY, { expiresAt: NOW + 1, ...terms }, '');
    return { path: getPath(link), headers: asked };
  };

export const getObject: readonly WireCase[] = [
  {
    title: 'returns the bytes',
    ask: download(),
    status: 200,
    headers: headers(),
    body: BYTES,
    everywhere: true,
  },
  {
    title: 'serves no active content',
    ask: download({ contentType: 'text/html', attachment: 'ö.html' }),
    status: 200,
    headers: headers({
      'content-type': 'text/html',
      'content-disposition': 'attachment; filename="_.html"; filename*=UTF-8\'\'%C3%B6.html',
    }),
    body: BYTES,
  },
  {
    title: 'serves an unsafe type as a download even if the link does not require it',
    ask: download({ contentType: 'image/svg+xml' }),
    status: 200,
    headers: headers({
      'content-type': 'image/svg+xml',
      'content-disposition': 'attachment; filename="download"; filename*=UTF-8\'\'download',
    }),
    body: BYTES,
  },
  {
    title: 'returns a range',
    ask: download({ headers: { Range: 'bytes=7-' } }),
    status: 206,
    headers: headers({ 'content-range': 'bytes 7-11/12' }),
    body: 'bytes',
    everywhere: true,
  },
  {
    title: 'rejects a range of bytes that changed',
    ask: download({ headers: { Range: 'bytes=7-', 'If-Range': '"other"' } }),
    status: 200,
    headers: headers(),
    body: BYTES,
  },
  {
    title: 'rejects a range beyond the end',
    ask: download({ headers: { Range: 'bytes=12-20' } }),
    headers: { 'content-range': 'bytes */12' },
    ...refused('public', { status: 416, message: 'The range is beyond the end' }),
  },
  { title: 'rejects a forged link', ...BAD_LINK },
  {
    title: 'rejects an expired link',
    ask: async (app) => {
      const asked = await download()(app);
      await app.clock.advance(1);
      return asked;
    },
    ...BAD_LINK,
  },
  {
    title: 'answers 404 for a deleted object',
    ask: async (app) => {
      const asked = await download()(app);
      await app.services.objects.remove(KEY);
      return asked;
    },
    ...refused('public', { status: 404, message: 'Object not found' }),
  },
];

const TERMS = { key: KEY, contentType: TYPE, size: SIZE, expiresAt: NOW + 1 };

const upload =
  (body: string, type = TYPE) =>
  async ({ services }: TestApp): Promise<Partial<Asked>> => {
    const { url } = await services.objectLinks.put(TERMS, '');
    return { path: getPath(url), headers: { 'Content-Type': type }, body };
  };

const TOO_LONG = refused('public', {
  status: 413,
  message: 'the upload is larger than the 12 bytes it was announced with',
  extra: { maxSize: 12 },
});
const TOO_SHORT = refused('public', {
  status: 400,
  message: 'the upload is smaller than the 12 bytes it was announced with',
});

const TAKEN = refused('public', {
  status: 409,
  message: 'Another transfer to this address is in progress',
});

/** Marks the object as being written by another process. */
const whileTaken =
  (ask: (app: TestApp) => Promise<Partial<Asked>>) =>
  async (app: TestApp): Promise<Partial<Asked>> => {
    const id = createHash('sha256').update(KEY).digest('hex');
    await app.services.store.collection(TRANSFERS).insert({ id, holder: 'other', until: NOW + 60_000 });
    return ask(app);
  };

export const putObject: readonly WireCase[] = [
  { title: 'stores the bytes', ask: upload(BYTES), status: 204, body: '', everywhere: true },
  { title: 'rejects more bytes than announced', ask: upload(`${BYTES}!`), ...TOO_LONG, everywhere: true },
  { title: 'rejects fewer bytes than announced', ask: upload('few'), ...TOO_SHORT },
  {
    title: 'rejects a type other than announced',
    ask: upload(BYTES, 'text/html'),
    ...refused('public', {
      status: 400,
      message: 'Content-Type must be text/plain, as announced',
    }),
  },
  { title: 'rejects a second transfer to the same address', ask: whileTaken(upload(BYTES)), ...TAKEN },
  {
    title: 'rejects an expired link',
    ask: async (app) => {
      const asked = await upload(BYTES)(app);
      await app.clock.advance(1);
      return asked;
    },
    ...BAD_LINK,
  },
  {
    title: 'rejects a link for another object',
    ask: async (app) => {
      const asked = await upload(BYTES)(app);
      return { ...asked, path: asked.path?.replace('test%2F1', 'test%2F2') ?? '' };
    },
    ...BAD_LINK,
  },
];

const BOUNDARY = 'between-parts';
const FORM = { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}` };

function part(disposition: string, content: string): string {
  return `--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${content}\r\n`;
}

const form =
  (body: string, changed: Readonly<Record<string, string>> = {}) =>
  async ({ services }: TestApp): Promise<Partial<Asked>> => {
    const { fields } = await services.objectLinks.post(TERMS, '');
    const parts = Object.entries({ ...fields, ...changed }).map(([name, value]) =>
      part(`name="${name}"`, value),
    );
    const file = part('name="file"; filename="../../etc/passwd"', body);
    return { headers: FORM, body: `${parts.join('')}${file}--${BOUNDARY}--\r\n` };
  };

export const postObject: readonly WireCase[] = [
  { title: 'stores the bytes', ask: form(BYTES), status: 204, body: '', everywhere: true },
  { title: 'rejects more bytes than announced', ask: form(`${BYTES}!`), ...TOO_LONG },
  { title: 'rejects fewer bytes than announced', ask: form('few'), ...TOO_SHORT },
  { title: 'rejects a second transfer to the same address', ask: whileTaken(form(BYTES)), ...TAKEN },
  { title: 'rejects a changed field', ask: form(BYTES, { size: '13' }), ...BAD_LINK },
  {
    title: 'rejects a body that is not a form',
    ask: { body: BYTES, headers: { 'Content-Type': 'text/plain' } },
    ...refused('public', {
      status: 400,
      message: 'Content-Type must be multipart/form-data with a boundary',
    }),
  },
  {
    title: 'rejects a form without a file',
    ask: { headers: FORM, body: `${part('name="key"', KEY)}--${BOUNDARY}--\r\n` },
    ...refused('public', { status: 400, message: 'the form has no part named file' }),
  },
];
