import { expect } from 'vitest';
import type { Asked } from '../../support/wire.ts';
import { NOW, type World } from '../../support/world.ts';
import { refused, type WireCase } from './case.ts';

const KEY = 'test/1';
const BYTES = 'twelve bytes';
const SIZE = BYTES.length;
const TYPE = 'text/plain';
const BAD_LINK = refused('public', {
  status: 403,
  message: 'This link is not valid, has ended or was used already',
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

/** The path and query of a link that is handed out. */
function pathOf(link: string | undefined): string {
  return (link ?? '').replace(/^https?:\/\/[^/]+/, '');
}

const download =
  (more: { attachment?: string; contentType?: string; headers?: Record<string, string> } = {}) =>
  async ({ services }: World): Promise<Partial<Asked>> => {
    await services.objects.put(KEY, Buffer.from(BYTES), { contentType: TYPE });
    const { headers: asked = {}, ...terms } = more;
    const link = await services.objectLinks.get(KEY, { expiresAt: NOW + 1, ...terms }, '');
    return { path: pathOf(link), headers: asked };
  };

export const getObject: readonly WireCase[] = [
  {
    title: 'hands out the bytes',
    ask: download(),
    status: 200,
    headers: headers(),
    body: BYTES,
    everywhere: true,
  },
  {
    title: 'shows nothing that could act',
    ask: download({ contentType: 'text/html', attachment: 'ö.html' }),
    status: 200,
    headers: headers({
      'content-type': 'text/html',
      'content-disposition': 'attachment; filename="_.html"; filename*=UTF-8\'\'%C3%B6.html',
    }),
    body: BYTES,
  },
  {
    title: 'saves what is unsafe, even where the link says nothing of it',
    ask: download({ contentType: 'image/svg+xml' }),
    status: 200,
    headers: headers({
      'content-type': 'image/svg+xml',
      'content-disposition': 'attachment; filename="download"; filename*=UTF-8\'\'download',
    }),
    body: BYTES,
  },
  {
    title: 'a part',
    ask: download({ headers: { Range: 'bytes=7-' } }),
    status: 206,
    headers: headers({ 'content-range': 'bytes 7-11/12' }),
    body: 'bytes',
    everywhere: true,
  },
  {
    title: 'a part of other bytes than the client knows',
    ask: download({ headers: { Range: 'bytes=7-', 'If-Range': '"other"' } }),
    status: 200,
    headers: headers(),
    body: BYTES,
  },
  {
    title: 'a range behind the end',
    ask: download({ headers: { Range: 'bytes=12-20' } }),
    headers: { 'content-range': 'bytes */12' },
    ...refused('public', { status: 416, message: 'The range lies behind the end' }),
  },
  { title: 'a link nobody made', ...BAD_LINK },
  {
    title: 'a link that has ended',
    ask: async (world) => {
      const asked = await download()(world);
      await world.clock.advance(1);
      return asked;
    },
    ...BAD_LINK,
  },
  {
    title: 'an object that is gone',
    ask: async (world) => {
      const asked = await download()(world);
      await world.services.objects.remove(KEY);
      return asked;
    },
    ...refused('public', { status: 404, message: 'Object not found' }),
  },
];

const TERMS = { key: KEY, contentType: TYPE, size: SIZE, expiresAt: NOW + 1 };

const upload =
  (body: string, type = TYPE) =>
  async ({ services }: World): Promise<Partial<Asked>> => {
    const { url } = await services.objectLinks.put(TERMS, '');
    return { path: pathOf(url), headers: { 'Content-Type': type }, body };
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

export const putObject: readonly WireCase[] = [
  { title: 'takes the bytes in', ask: upload(BYTES), status: 204, body: '', everywhere: true },
  { title: 'more bytes than announced', ask: upload(`${BYTES}!`), ...TOO_LONG, everywhere: true },
  { title: 'fewer bytes than announced', ask: upload('few'), ...TOO_SHORT },
  {
    title: 'another type than announced',
    ask: upload(BYTES, 'text/html'),
    ...refused('public', {
      status: 400,
      message: 'Content-Type must be text/plain, as it was announced',
    }),
  },
  {
    title: 'a link that has ended',
    ask: async (world) => {
      const asked = await upload(BYTES)(world);
      await world.clock.advance(1);
      return asked;
    },
    ...BAD_LINK,
  },
  {
    title: 'a link that was made for another object',
    ask: async (world) => {
      const asked = await upload(BYTES)(world);
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
  async ({ services }: World): Promise<Partial<Asked>> => {
    const { fields } = await services.objectLinks.post(TERMS, '');
    const parts = Object.entries({ ...fields, ...changed }).map(([name, value]) =>
      part(`name="${name}"`, value),
    );
    const file = part('name="file"; filename="../../etc/passwd"', body);
    return { headers: FORM, body: `${parts.join('')}${file}--${BOUNDARY}--\r\n` };
  };

export const postObject: readonly WireCase[] = [
  { title: 'takes the bytes in', ask: form(BYTES), status: 204, body: '', everywhere: true },
  { title: 'more bytes than announced', ask: form(`${BYTES}!`), ...TOO_LONG },
  { title: 'fewer bytes than announced', ask: form('few'), ...TOO_SHORT },
  { title: 'a field that was changed', ask: form(BYTES, { size: '13' }), ...BAD_LINK },
  {
    title: 'a body that is no form',
    ask: { body: BYTES, headers: { 'Content-Type': 'text/plain' } },
    ...refused('public', {
      status: 400,
      message: 'Content-Type must be multipart/form-data with a boundary',
    }),
  },
  {
    title: 'a form without a file',
    ask: { headers: FORM, body: `${part('name="key"', KEY)}--${BOUNDARY}--\r\n` },
    ...refused('public', { status: 400, message: 'the form has no part named file' }),
  },
];
