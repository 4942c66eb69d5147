import { createFakeClock, createFakeIds } from '@questline/testing';
import { expect, it } from 'vitest';
import { delayed } from '../../../test/delayed.ts';
import { createMemoryObjects } from '../../memory/objects.ts';
import { createMemoryQueue } from '../../memory/queue.ts';
import { createMemoryStore } from '../../memory/store.ts';
import { FILE_USAGE, FILES, type FileRecord } from './records.ts';
import { createWatchHandler, watchJob } from './watch.ts';

const ID = 'a'.repeat(24);
const UPLOAD_MS = 600_000;
const HOUR_MS = 3_600_000;

async function setUp(status: FileRecord['status'] = 'pending') {
  const clock = createFakeClock();
  const start = clock.now();
  const store = createMemoryStore();
  const objects = createMemoryObjects();
  const queue = createMemoryQueue({ clock, ids: createFakeIds() });
  const files = store.collection(FILES);
  const usage = store.collection(FILE_USAGE);
  const about = { name: 'a.txt', mimeType: 'text/plain', size: 5, source: 'upload' } as const;
  const times = { createdAt: start, uploadUntil: start + UPLOAD_MS };
  const file: FileRecord = { id: ID, ownerId: 'ada', status, ...about, ...times };
  await files.insert(file);
  await usage.insert({ id: 'ada', bytes: 5 });
  const handler = createWatchHandler({
    ...{ store: delayed(store), objects: delayed(objects), queue: delayed(queue), clock },
  });
  const { payload } = watchJob(file);
  const run = () => handler.run({ payload } as never, new AbortController().signal, async () => undefined);
  const scans = () => queue.lease({ kinds: ['files.scan'], limit: 9, leaseMs: 1 });
  const upload = () => objects.put(`uploads/${ID}`, Buffer.from('hello'), { contentType: 'text/plain' });
  const isUploaded = async () => (await objects.head(`uploads/${ID}`)) !== undefined;
  const countBytes = async () => (await usage.get('ada'))?.bytes;
  return { clock, handler, start, store, files, file, run, scans, upload, isUploaded, countBytes };
}

it('looks two seconds after the announcement', async () => {
  const { handler, start, file } = await setUp();
  expect(watchJob(file)).toEqual({
    ...{ kind: 'files.watch', key: `watch:${ID}`, owner: 'ada', runAt: start + 2000 },
    payload: { fileId: ID, announcedAt: start, uploadUntil: start + UPLOAD_MS },
  });
  expect([handler.kind, handler.concurrency]).toEqual(['files.watch', 8]);
  const { uploadUntil: _, ...older } = file;
  expect(watchJob(older)).toMatchObject({ payload: { uploadUntil: start } });
});

it.each([
  [2000, 2000],
  [5001, 2501],
  [130_000, 60_000],
  [UPLOAD_MS + HOUR_MS - 1000, 1000],
  [UPLOAD_MS + HOUR_MS - 1, 1],
])('looks again for an upload: %i ms after the announcement in %i ms', async (passed, afterMs) => {
  const { clock, run, scans, files } = await setUp();
  await clock.advance(passed);
  expect(await run()).toEqual({ afterMs, countAttempt: false });
  expect(await scans()).toEqual([]);
  expect(await files.get(ID)).toMatchObject({ status: 'pending' });
});

it('has an upload checked that was not reported, and looks again', async () => {
  const { clock, run, scans, upload } = await setUp();
  await upload();
  await clock.advance(2000);
  expect(await run()).toEqual({ afterMs: 2000, countAttempt: false });
  expect(await scans()).toMatchObject([{ key: `scan:${ID}`, owner: 'ada' }]);
});

it('has an upload checked at its last look, too', async () => {
  const { clock, run, scans, upload, files, countBytes } = await setUp();
  await upload();
  await clock.advance(UPLOAD_MS + HOUR_MS);
  expect(await run()).toBeUndefined();
  expect(await scans()).toHaveLength(1);
  expect([await files.count({}), await countBytes()]).toEqual([1, 5]);
});

it('forgets a file that was not uploaded within an hour after its address expired', async () => {
  const { clock, run, files, countBytes } = await setUp();
  await clock.advance(UPLOAD_MS + HOUR_MS);
  expect(await run()).toBeUndefined();
  expect([await files.count({}), await countBytes()]).toEqual([0, 0]);
});

it('forgets no file whose upload is reported at the same moment', async () => {
  const { clock, run, store, files, countBytes } = await setUp();
  await clock.advance(UPLOAD_MS + HOUR_MS);
  const { transaction } = store;
  Object.assign(store, {
    async transaction(...given: Parameters<typeof transaction>) {
      await files.update(ID, { status: 'scanning' });
      return transaction(...given);
    },
  });
  await run();
  expect([await files.count({}), await countBytes()]).toEqual([1, 5]);
});

it('has a check begun again that was lost, as long as it takes', async () => {
  const { clock, run, scans } = await setUp('scanning');
  await clock.advance(4000);
  expect(await run()).toEqual({ afterMs: 2000, countAttempt: false });
  expect(await scans()).toHaveLength(1);
  await clock.advance(UPLOAD_MS + HOUR_MS);
  expect(await run()).toEqual({ afterMs: 1, countAttempt: false });
});

it.each(['clean', 'blocked'] as const)('deletes late uploads of a %s file at the end', async (status) => {
  const { clock, run, scans, upload, isUploaded } = await setUp(status);
  await upload();
  await clock.advance(UPLOAD_MS);
  expect(await run()).toEqual({ afterMs: HOUR_MS, countAttempt: false });
  expect(await isUploaded()).toBe(true);
  await clock.advance(HOUR_MS);
  expect(await run()).toBeUndefined();
  expect([await isUploaded(), await scans()]).toEqual([false, []]);
});
