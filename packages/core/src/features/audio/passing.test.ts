import { expect, it } from 'vitest';
import { delayed } from '../../../test/delayed.ts';
import { createMemoryObjects } from '../../memory/objects.ts';
import { createMemoryStore } from '../../memory/store.ts';
import type { LeasedJob } from '../../ports/queue.ts';
import { createExpiryHandler, expireJob } from './passing.ts';
import { TRANSCRIPTION_UPLOADS, type TranscriptionUploadRecord } from './transcriptions-records.ts';

it('names the bytes, their end, and the upload that they belong to', () => {
  expect(expireJob('media/a', 50)).toEqual({
    ...{ kind: 'media.expire', key: 'expire:media/a', payload: { objectKey: 'media/a' }, runAt: 50 },
  });
  expect(expireJob('media/a', 50, 'u1').payload).toEqual({ objectKey: 'media/a', uploadId: 'u1' });
});

it('removes the bytes, and the record of an upload only', async () => {
  const store = createMemoryStore();
  const uploads = store.collection(TRANSCRIPTION_UPLOADS);
  for (const id of ['u1', 'u2'])
    await uploads.insert({ id } as Partial<TranscriptionUploadRecord> as TranscriptionUploadRecord);
  const objects = createMemoryObjects();
  for (const key of ['a', 'b', 'c']) await objects.put(key, Uint8Array.of(1), { contentType: 'audio/mpeg' });
  const handler = createExpiryHandler({ store: delayed(store), objects: delayed(objects) });
  expect([handler.kind, handler.concurrency]).toEqual(['media.expire', 2]);
  const run = ({ payload }: ReturnType<typeof expireJob>) =>
    handler.run({ payload } as LeasedJob, new AbortController().signal, async () => undefined);
  expect(await run(expireJob('a', 50, 'u1'))).toBeUndefined();
  expect([await objects.head('a'), await uploads.get('u1')]).toEqual([undefined, undefined]);
  await run(expireJob('b', 50));
  expect([await objects.head('b'), (await objects.head('c'))?.size]).toEqual([undefined, 1]);
  expect((await uploads.find({})).map(({ id }) => id)).toEqual(['u2']);
  // A second worker repeats it.
  expect(await run(expireJob('a', 50, 'u1'))).toBeUndefined();
});
