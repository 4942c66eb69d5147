import { setImmediate as turn } from 'node:timers/promises';
import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import type { Call } from '../../contract/call.ts';
import { LINK_MS } from '../files/library.ts';
import { type DeliveryOptions, type DeliveryServices, deliver } from './delivery.ts';

const CALL = { id: 'call-abcdef', caller: { userId: 'ada' }, mountPath: '/ai' } as unknown as Call;
const OPTIONS: DeliveryOptions = {
  ...{ name: 'speech', format: 'mp3', encoding: 'base64', preview: false, headers: { 'X-Own': '1' } },
};
const AUDIO = { mediaType: 'audio/mpeg', data: Uint8Array.of(1, 2, 3) };
const SAVED = { 'X-Audio-Saved': 'true', 'X-Audio-File-Id': 'f1', 'X-Audio-File-Name': 'speech-abcdef.mp3' };

interface Setting extends Partial<DeliveryOptions> {
  readonly inlineAudioMaxBytes?: number;
  /** Why the file is not stored. */
  readonly skipped?: string;
  readonly fileUrl?: string;
  readonly passingUrl?: string;
}

function start({ inlineAudioMaxBytes = 3, skipped, fileUrl, passingUrl, ...options }: Setting = {}) {
  const clock = createFakeClock();
  const log: unknown[] = [];
  const services = {
    ...{ clock, ids: createFakeIds(), inlineAudioMaxBytes },
    library: {
      async save(userId: string, file: object) {
        log.push({ save: userId, ...file });
        return skipped === undefined ? { file: { id: 'f1' } } : { skipped };
      },
      link: async (_file: object, mountPath: string) =>
        fileUrl ? { url: `${mountPath}${fileUrl}` } : undefined,
    },
    objectLinks: {
      async get(key: string, given: object, mountPath: string) {
        log.push({ link: key.slice(0, 8), ...given });
        return passingUrl && `${mountPath}${passingUrl}`;
      },
    },
    queue: {
      async enqueue({
        kind,
        payload,
        runAt,
      }: {
        kind: string;
        payload: { objectKey: string };
        runAt: number;
      }) {
        await turn();
        log.push({ kind, key: payload.objectKey.slice(0, 8), runAt });
      },
    },
    objects: {
      async put(key: string, data: Uint8Array, given: object) {
        await turn();
        log.push({ put: key.slice(0, 8), bytes: data.length, ...given });
      },
    },
  } as unknown as DeliveryServices;
  const reply = deliver(services, AUDIO, { ...OPTIONS, ...options }, CALL);
  return { reply, log, expiresAt: clock.now() + LINK_MS };
}

async function read(setting: Setting) {
  const { status, headers, body } = await start(setting).reply;
  return { status, headers, body: typeof body === 'string' ? JSON.parse(body) : body };
}

describe('audio that fits into a response', () => {
  it('is stored for the caller, and returned as text', async () => {
    const { reply, log } = start({ fileUrl: '/f', provider: 'p', fallbackFrom: 'q' });
    expect(JSON.parse(String((await reply).body))).toEqual({
      ...{ contentType: 'audio/mpeg', format: 'mp3', provider: 'p', fallbackFrom: 'q', delivery: 'inline' },
      ...{ saved: true, fileId: 'f1', fabFileId: 'f1', fileName: 'speech-abcdef.mp3', fileUrl: '/ai/f' },
      audio: 'AQID',
    });
    expect(log).toEqual([
      { save: 'ada', name: 'speech-abcdef.mp3', mimeType: 'audio/mpeg', content: AUDIO.data },
    ]);
  });

  it.each<[string, Setting, object]>([
    ['with its file', {}, SAVED],
    ['with the address of its file', { fileUrl: '/f' }, { ...SAVED, 'X-Audio-File-Url': '/ai/f' }],
    ['without a file', { skipped: 'quota' }, { 'X-Audio-Saved': 'false' }],
    ['as a preview', { preview: true }, { 'X-Audio-Saved': 'false' }],
  ])('is returned as bytes %s', async (_name, setting, headers) => {
    expect(await read({ encoding: 'binary', ...setting })).toEqual({
      status: 200,
      headers: { 'Content-Type': 'audio/mpeg', 'X-Own': '1', ...headers },
      body: AUDIO.data,
    });
  });

  it('says why it is not stored', async () => {
    const { body } = await read({ skipped: 'quota' });
    expect(body).toEqual({
      ...{ contentType: 'audio/mpeg', format: 'mp3', delivery: 'inline', audio: 'AQID' },
      ...{ saved: false, saveSkippedReason: 'quota' },
    });
    const preview = start({ preview: true });
    expect(JSON.parse(String((await preview.reply).body))).not.toHaveProperty('saved');
    expect(preview.log).toEqual([]);
  });
});

describe('audio that is too large for a response', () => {
  const LARGE = { inlineAudioMaxBytes: 2 };

  it('is the address of its file', async () => {
    const { reply, log } = start({ ...LARGE, fileUrl: '/f', passingUrl: '/p' });
    const { body } = await reply;
    expect(JSON.parse(String(body))).toMatchObject({
      delivery: 'url',
      url: '/ai/f',
      bytes: 3,
      fileUrl: '/ai/f',
    });
    expect(log).toHaveLength(1);
    expect(await read({ ...LARGE, fileUrl: '/f', encoding: 'binary' })).toEqual({
      status: 303,
      headers: { Location: '/ai/f', 'X-Own': '1', ...SAVED, 'X-Audio-File-Url': '/ai/f' },
      body: undefined,
    });
  });

  it('is stored until its address expires where it has no file, and the end is planned first', async () => {
    const { reply, log, expiresAt } = start({ ...LARGE, preview: true, passingUrl: '/p' });
    expect(JSON.parse(String((await reply).body))).toMatchObject({ delivery: 'url', url: '/ai/p', bytes: 3 });
    expect(log).toEqual([
      { link: 'passing/', expiresAt, contentType: 'audio/mpeg' },
      { kind: 'media.expire', key: 'passing/', runAt: expiresAt },
      { put: 'passing/', bytes: 3, contentType: 'audio/mpeg' },
    ]);
  });

  it.each<[Setting, object]>([
    [{ provider: 'p' }, { provider: 'p', saved: true, fileId: 'f1', fabFileId: 'f1' }],
    [{ skipped: 'quota' }, { saved: false }],
    [{ preview: true }, {}],
  ])('is refused without an address, with what was stored: %j', async (setting, extra) => {
    const { reply, log } = start({ ...LARGE, ...setting });
    await expect(reply).rejects.toMatchObject({ status: 413, extra });
    expect(JSON.stringify(log)).not.toContain('put');
  });
});
