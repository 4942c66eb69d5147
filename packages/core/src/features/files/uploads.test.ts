import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { delayed } from '../../../test/delayed.ts';
import { createMemoryQueue } from '../../memory/queue.ts';
import { createMemoryStore } from '../../memory/store.ts';
import type { AdminSettingsReader } from '../../operations/admin-settings.ts';
import { FILES, type FileRecord } from './records.ts';
import { getFileSettings } from './settings.ts';
import { checkAnnounced, watchUploads } from './uploads.ts';

const ID = 'a'.repeat(24);

async function setUp(status: FileRecord['status'] = 'pending') {
  const clock = createFakeClock();
  const store = createMemoryStore();
  const queue = createMemoryQueue({ clock, ids: createFakeIds() });
  const files = store.collection(FILES);
  const about = { name: 'a.txt', mimeType: 'text/plain', size: 5, source: 'upload', createdAt: 0 } as const;
  await files.insert({ id: ID, ownerId: 'ada', status, ...about });
  const lease = () => queue.lease({ kinds: ['files.scan'], limit: 9, leaseMs: 1000 });
  return { files, lease, watch: watchUploads({ store: delayed(store), queue: delayed(queue) }) };
}

describe('the address of an upload', () => {
  it('is open until the bytes arrive, which are then checked', async () => {
    const { files, lease, watch } = await setUp();
    const key = `${watch.prefix}/${ID}`;
    expect(await watch.isOpen(key)).toBe(true);
    await watch.arrived(key);
    expect(await watch.isOpen(key)).toBe(false);
    expect(await files.get(ID)).toMatchObject({ status: 'scanning' });
    expect(await lease()).toMatchObject([{ key: `scan:${ID}`, owner: 'ada', payload: { fileId: ID } }]);
  });

  it.each(['scanning', 'clean', 'blocked'] as const)('takes nothing for a %s file', async (status) => {
    const { files, lease, watch } = await setUp(status);
    expect(await watch.isOpen(`uploads/${ID}`)).toBe(false);
    await watch.arrived(`uploads/${ID}`);
    expect(await files.get(ID)).toMatchObject({ status });
    expect(await lease()).toEqual([]);
  });

  it('is closed for files that do not exist', async () => {
    const { watch } = await setUp();
    expect(await watch.isOpen(`uploads/${'b'.repeat(24)}`)).toBe(false);
    expect(await watch.isOpen('uploads/..')).toBe(false);
  });
});

it('have room for 10 GiB of each user', () => {
  expect(getFileSettings().storageQuota).toBe(10 * 2 ** 30);
});

describe('an announced file', () => {
  const adminSettings = { current: async () => ({ MaxFileSize: 10 }) } as unknown as AdminSettingsReader;
  const check = (mimeType: string, size = 10, refusedTypes?: readonly string[]) =>
    checkAnnounced(
      { adminSettings, fileSettings: getFileSettings(refusedTypes && { refusedTypes }) },
      mimeType,
      size,
    );

  it('has at most the largest size', async () => {
    expect(await check('text/plain', 10)).toBe('text/plain');
    await expect(check('text/plain', 11)).rejects.toMatchObject({
      status: 400,
      message: 'file_size: files may have at most 10 bytes',
    });
  });

  it('has a type in lower case, without parameters', async () => {
    expect(await check(' Text/HTML ; charset=utf-8')).toBe('text/html');
    for (const type of ['text', 'text/', '/plain', 'text/a/b', 'a text/plain', '']) {
      await expect(check(type), type).rejects.toMatchObject({ status: 400 });
    }
  });

  it.each([
    ['application/x-msdownload', undefined],
    ['video/mp4', ['video/*']],
    ['image/png', ['video/*', 'image/png']],
  ] as const)('is no %s', async (type, refused) => {
    const message = 'mime_type: files of this type are not accepted';
    await expect(check(type, 1, refused)).rejects.toMatchObject({ status: 400, message });
  });

  it('may have a type beside those that are refused', async () => {
    const refused = ['video/*', 'image/png'];
    for (const type of ['videos/mp4', 'image/png2', 'text/plain', 'application/x-msdownload']) {
      expect(await check(type, 1, refused)).toBe(type);
    }
    expect(await check('video/mp4')).toBe('video/mp4');
  });
});
