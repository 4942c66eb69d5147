import type { ObjectStore, SignedUpload } from '@questline/core/ports';
import { expect } from 'vitest';
import {
  about,
  type ObjectsCase,
  type ObjectsSubject,
  read,
  type SignedAnswer,
  type SignedRequest,
  toBytes,
} from './subject.ts';

const KEY = 'uploads/1';

const excuse = ({ send }: ObjectsSubject) => (send === undefined ? 'the store cannot sign links' : undefined);

type SigningStore = Required<Pick<ObjectStore, 'signPut' | 'signPost' | 'signGet'>>;

function signing({ objects }: ObjectsSubject): SigningStore {
  const { signPut, signPost, signGet } = objects;
  if (signPut === undefined || signPost === undefined || signGet === undefined) {
    throw new Error('the store signs some links, and not others');
  }
  return {
    signPut: signPut.bind(objects),
    signPost: signPost.bind(objects),
    signGet: signGet.bind(objects),
  };
}

async function send(subject: ObjectsSubject, request: SignedRequest): Promise<SignedAnswer> {
  if (subject.send === undefined) throw new Error('nothing serves the links');
  return subject.send(request);
}

const isFine = ({ status }: SignedAnswer) => status >= 200 && status < 300;
const isRefused = ({ status }: SignedAnswer) => status >= 400 && status < 500;

function terms({ time }: ObjectsSubject, size: number, units = 40) {
  return { key: KEY, contentType: 'image/png', size, expiresAt: time.now() + units * time.unit };
}

function put(subject: ObjectsSubject, { url, fields }: SignedUpload, body: Uint8Array, headers = {}) {
  return send(subject, { method: 'PUT', url, headers: { ...fields, ...headers }, body });
}

function post(subject: ObjectsSubject, { url, fields }: SignedUpload, bytes: Uint8Array, changed = {}) {
  const form = new FormData();
  for (const [name, value] of Object.entries({ ...fields, ...changed })) form.append(name, String(value));
  form.append('file', new Blob([Uint8Array.from(bytes)]), 'upload.bin');
  return send(subject, { method: 'POST', url, headers: {}, body: form });
}

export const linkCases: readonly ObjectsCase[] = [
  {
    name: 'accepts the bytes of an upload link',
    section: 'behaviour',
    excuse,
    async run(subject) {
      const asked = terms(subject, 1000);
      const signed = await signing(subject).signPut(asked);
      expect(signed.expiresAt).toBe(asked.expiresAt);
      expect(isFine(await put(subject, signed, toBytes(1000)))).toBe(true);
      expect(await subject.objects.head(KEY)).toMatchObject({ size: 1000, contentType: 'image/png' });
      expect(await read(subject.objects, KEY)).toEqual(toBytes(1000));
    },
  },
  {
    name: 'rejects another size, type or key on an upload link',
    section: 'behaviour',
    excuse,
    async run(subject) {
      const signed = await signing(subject).signPut(terms(subject, 1000));
      expect(isRefused(await put(subject, signed, toBytes(1001)))).toBe(true);
      expect(isRefused(await put(subject, signed, toBytes(999)))).toBe(true);
      expect(isRefused(await put(subject, signed, toBytes(1000), { 'content-type': 'text/html' }))).toBe(
        true,
      );
      const moved = { ...signed, url: moveKey(signed.url) };
      expect(isRefused(await put(subject, moved, toBytes(1000)))).toBe(true);
      expect(await subject.objects.head(KEY)).toBeUndefined();
      expect(await subject.objects.head('uploads/2')).toBeUndefined();
    },
  },
  {
    name: 'accepts the bytes of an upload form',
    section: 'behaviour',
    excuse,
    async run(subject) {
      const signed = await signing(subject).signPost(terms(subject, 1000));
      expect(isFine(await post(subject, signed, toBytes(1000)))).toBe(true);
      expect(await subject.objects.head(KEY)).toMatchObject({ size: 1000, contentType: 'image/png' });
      expect(await read(subject.objects, KEY)).toEqual(toBytes(1000));
    },
  },
  {
    name: 'rejects another size or key on an upload form',
    section: 'behaviour',
    excuse,
    async run(subject) {
      const signed = await signing(subject).signPost(terms(subject, 1000));
      expect(isRefused(await post(subject, signed, toBytes(1001)))).toBe(true);
      expect(isRefused(await post(subject, signed, toBytes(999)))).toBe(true);
      expect(isRefused(await post(subject, signed, toBytes(1000), { key: 'uploads/2' }))).toBe(true);
      expect(await subject.objects.head(KEY)).toBeUndefined();
      expect(await subject.objects.head('uploads/2')).toBeUndefined();
    },
  },
  {
    name: 'returns bytes at a download link with its name and type',
    section: 'behaviour',
    excuse,
    async run(subject) {
      await subject.objects.put(KEY, toBytes(1000), about);
      const { expiresAt } = terms(subject, 0);
      const plain = await signing(subject).signGet(KEY, { expiresAt });
      const answer = await send(subject, { method: 'GET', url: plain ?? '', headers: {} });
      expect(answer.status).toBe(200);
      expect(Uint8Array.from(answer.body)).toEqual(toBytes(1000));
      const named = await signing(subject).signGet(KEY, {
        expiresAt,
        contentType: 'text/plain',
        attachment: 'r\u00e9sum\u00e9 "1".txt',
      });
      const { headers } = await send(subject, { method: 'GET', url: named ?? '', headers: {} });
      expect(headers['content-type']).toMatch(/^text\/plain/);
      expect(headers['content-disposition']).toMatch(/^attachment;/);
      expect(headers['content-disposition']).toContain("filename*=UTF-8''r%C3%A9sum%C3%A9%20%221%22.txt");
    },
  },
  {
    name: 'limits a download link to reading one object',
    section: 'behaviour',
    excuse,
    async run(subject) {
      await subject.objects.put(KEY, toBytes(10), about);
      await subject.objects.put('uploads/2', toBytes(10), about);
      const url = (await signing(subject).signGet(KEY, { expiresAt: terms(subject, 0).expiresAt })) ?? '';
      expect(isRefused(await send(subject, { method: 'GET', url: moveKey(url), headers: {} }))).toBe(true);
      const written = await send(subject, { method: 'PUT', url, headers: {}, body: toBytes(10, 5) });
      expect(isRefused(written)).toBe(true);
      expect(await read(subject.objects, KEY)).toEqual(toBytes(10));
    },
  },
  {
    name: 'expires links',
    section: 'behaviour',
    excuse,
    async run(subject) {
      await subject.objects.put('uploads/2', toBytes(10), about);
      const { expiresAt } = terms(subject, 0, 1);
      const toPut = await signing(subject).signPut(terms(subject, 10, 1));
      const toPost = await signing(subject).signPost(terms(subject, 10, 1));
      const toGet = (await signing(subject).signGet('uploads/2', { expiresAt })) ?? '';
      await subject.time.advance(2.5 * subject.time.unit);
      expect(isRefused(await put(subject, toPut, toBytes(10)))).toBe(true);
      expect(isRefused(await post(subject, toPost, toBytes(10)))).toBe(true);
      expect(isRefused(await send(subject, { method: 'GET', url: toGet, headers: {} }))).toBe(true);
      expect(await subject.objects.head(KEY)).toBeUndefined();
    },
  },
];

/** The same link with the key of another object, anywhere in it. */
function moveKey(url: string): string {
  return url.replace('uploads/1', 'uploads/2').replace('uploads%2F1', 'uploads%2F2');
}
