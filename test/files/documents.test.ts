import { FILES } from '@questline/core/internal';
import { ExtractionError, type TextExtractor } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createChatApp } from '../support/chat.ts';
import { addToLake, ingest, makeLake, saveFile, withLakes } from '../support/lakes.ts';
import { createTestApp, type TestApp } from '../support/test-app.ts';

const TYPE = { name: 'a.x', mimeType: 'application/x-test' };
type Extract = TextExtractor['extract'];

/** An extractor of the host; a test can make it break single rules. */
function createExtractor(extract: Extract) {
  const calls: string[] = [];
  const extractor: TextExtractor = {
    reads: ({ mimeType }) => mimeType === TYPE.mimeType,
    extract(bytes, type, options) {
      calls.push(`${options?.owner}`);
      return extract(bytes, type, options);
    },
  };
  return { extractor, calls };
}

const tooMuch: Extract = async () => {
  throw new ExtractionError('limit', 'it takes more than 256 MiB of memory to read');
};
const REASON = 'a.x could not be read: it takes more than 256 MiB of memory to read.';

/** Waits until the condition holds. */
async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setImmediate(resolve));
}

async function readLakeFile(app: TestApp, lakeId: string, fileId: string) {
  const path = `/api/v1/data-lakes/${lakeId}/files/${fileId}`;
  const answer = await app.ask('GET', path, { credential: await app.token() });
  const { ingestion_status, error } = (await answer.json()) as Record<string, unknown>;
  return { ingestion_status, error };
}

describe('document that exceeds a limit', () => {
  it('is omitted from a chat with its reason and not extracted again after three attempts', async () => {
    const { extractor, calls } = createExtractor(tooMuch);
    const app = await createChatApp({ extractors: [extractor] });
    const fileIds = [await saveFile(app, 'x', TYPE)];
    for (let turn = 1; turn <= 5; turn += 1) {
      const { body } = await app.chat({ message: 'Look', fileIds, wait: true });
      expect(await app.poll(body.id)).toMatchObject({
        attachmentDelivery: { dropped: 1, droppedIds: fileIds },
        attachmentNotices: ['1 of 1 attached files could not be given to Scripted.', REASON],
      });
    }
    expect(calls).toEqual(Array(3).fill(app.user.id));
  });

  it('fails in a data lake with its reason, however often it is added, and is not tried a fourth time', async () => {
    const { extractor, calls } = createExtractor(tooMuch);
    const app = await createTestApp(withLakes({ extractors: [extractor] }));
    const lakeId = await makeLake(app);
    const fileId = await saveFile(app, 'x', TYPE);
    for (let turn = 1; turn <= 5; turn += 1) {
      await addToLake(app, lakeId, fileId);
      await ingest(app);
      expect(await readLakeFile(app, lakeId, fileId)).toEqual({
        ingestion_status: 'failed',
        error: 'The file could not be read: it takes more than 256 MiB of memory to read.',
      });
    }
    expect(calls).toHaveLength(3);
  });

  it('resets its attempts when it is read successfully', async () => {
    let failures = 2;
    const { extractor } = createExtractor(async (...call) => {
      failures -= 1;
      return failures >= 0 ? tooMuch(...call) : { text: 'read' };
    });
    const app = await createChatApp({ extractors: [extractor] });
    const fileId = await saveFile(app, 'x', TYPE);
    for (let turn = 1; turn <= 3; turn += 1)
      await app.chat({ message: 'Look', fileIds: [fileId], wait: true });
    expect(app.calls.at(-1)?.request.messages.at(-1)?.content).toContainEqual({
      type: 'document',
      mediaType: 'text/plain',
      name: 'a.x',
      data: Buffer.from('read').toString('base64'),
    });
    const file = await app.services.store.collection(FILES).get(fileId);
    expect(file?.readAttempts).toBeUndefined();
  });
});

describe('document that crashes the process', () => {
  /** The state that a process leaves when it is killed while reading. */
  const killed = async (app: TestApp, fileId: string): Promise<void> => {
    await app.services.store.collection(FILES).add(fileId, { readAttempts: 1 });
  };

  it('counts an attempt before the read and resets it afterwards', async () => {
    let during: number | undefined;
    const { extractor } = createExtractor(async () => {
      during = (await app.services.store.collection(FILES).get(fileId))?.readAttempts;
      return { text: 'read' };
    });
    const app = await createChatApp({ extractors: [extractor] });
    const fileId = await saveFile(app, 'x', TYPE);
    await app.chat({ message: 'Look', fileIds: [fileId], wait: true });
    expect(during).toBe(1);
    expect((await app.services.store.collection(FILES).get(fileId))?.readAttempts).toBeUndefined();
  });

  it('is not extracted after the third attempt in a chat', async () => {
    const { extractor, calls } = createExtractor(async () => ({ text: 'never' }));
    const app = await createChatApp({ extractors: [extractor] });
    const fileId = await saveFile(app, 'x', TYPE);
    for (let time = 1; time <= 3; time += 1) await killed(app, fileId);
    const { body } = await app.chat({ message: 'Look', fileIds: [fileId], wait: true });
    expect((await app.poll(body.id)).attachmentNotices).toContain(
      'a.x could not be read: reading it was begun 3 times and never ended.',
    );
    expect(calls).toEqual([]);
  });

  it('is not extracted after the third attempt in a data lake', async () => {
    const { extractor, calls } = createExtractor(async () => ({ text: 'never' }));
    const app = await createTestApp(withLakes({ extractors: [extractor] }));
    const lakeId = await makeLake(app);
    const fileId = await saveFile(app, 'x', TYPE);
    for (let time = 1; time <= 3; time += 1) await killed(app, fileId);
    await addToLake(app, lakeId, fileId);
    await ingest(app);
    expect(await readLakeFile(app, lakeId, fileId)).toEqual({
      ingestion_status: 'failed',
      error: 'The file could not be read: reading it was begun 3 times and never ended.',
    });
    expect(calls).toEqual([]);
  });

  it('counts no attempt for work stopped by a graceful shutdown', async () => {
    const { extractor } = createExtractor(
      (_bytes, _type, options) =>
        new Promise((_resolve, reject) => {
          options?.signal?.addEventListener('abort', () => reject(options.signal?.reason));
        }),
    );
    const app = await createTestApp(withLakes({ extractors: [extractor] }));
    const lakeId = await makeLake(app);
    const fileId = await saveFile(app, 'x', TYPE);
    await addToLake(app, lakeId, fileId);
    await app.api.start();
    const files = app.services.store.collection(FILES);
    await until(async () => (await files.get(fileId))?.readAttempts === 1);
    await app.api.drain(0);
    expect((await files.get(fileId))?.readAttempts).toBe(0);
  });
});

describe('extractor of the host', () => {
  it('times out even when it ignores its signal, and its document counts an attempt', async () => {
    const { extractor, calls } = createExtractor(() => new Promise(() => undefined));
    const app = await createChatApp({
      extractors: [extractor],
      settings: { admin: { DefaultAPIModel: 'scripted' }, documents: { timeoutMs: 5000 } },
    });
    const fileId = await saveFile(app, 'x', TYPE);
    const asked = app.chat({ message: 'Look', fileIds: [fileId] });
    await until(() => calls.length === 1);
    await app.clock.advance(5000);
    const { body } = await asked;
    await until(async () => (await app.poll(body.id)).attachmentNotices !== undefined);
    expect((await app.poll(body.id)).attachmentNotices).toContain(
      'a.x could not be read: it takes longer than 5 s to read.',
    );
  });

  it('reads one document per owner at a time, and those of others meanwhile', async () => {
    const ends: (() => void)[] = [];
    const { extractor, calls } = createExtractor(
      () => new Promise((resolve) => ends.push(() => resolve({ text: 'read' }))),
    );
    const app = await createChatApp({ extractors: [extractor] });
    const bob = await app.addUser('bob@example.com');
    const own = await Promise.all([1, 2, 3, 4].map(() => saveFile(app, 'x', TYPE)));
    const his = await saveFile(app, 'x', { ...TYPE, ownerId: bob.id });
    const { documents, store } = app.services;
    const read = async (owner: string, id: string) => {
      const file = await store.collection(FILES).get(id);
      return file && documents.read(file, async () => Buffer.from('x'), { owner });
    };
    const all = own.map((id) => read(app.user.id, id));
    await until(() => calls.length === 1);
    await app.settle();
    expect(calls).toEqual([app.user.id]);
    const hisRead = read(bob.id, his);
    await until(() => calls.length === 2);
    expect(calls).toEqual([app.user.id, bob.id]);
    ends[1]?.();
    expect(await hisRead).toEqual({ status: 'read', text: 'read' });
    for (let turn = 0; turn < 4; turn += 1) {
      await until(() => ends.length > (turn === 0 ? 0 : turn + 1));
      ends[turn === 0 ? 0 : turn + 1]?.();
    }
    expect(await Promise.all(all)).toEqual(Array(4).fill({ status: 'read', text: 'read' }));
  });

  it('does not delay documents of other owners in a data lake', async () => {
    const ends: (() => void)[] = [];
    const { extractor } = createExtractor((_bytes, _type, options) =>
      options?.owner === app.user.id
        ? new Promise((resolve) => ends.push(() => resolve({ text: 'slow' })))
        : Promise.resolve({ text: 'quick' }),
    );
    const app = await createTestApp(withLakes({ extractors: [extractor], credits: 100_000 }));
    const bob = await app.addUser('bob@example.com');
    const lakeId = await makeLake(app);
    for (let number = 0; number < 20; number += 1)
      await addToLake(app, lakeId, await saveFile(app, 'x', TYPE));
    const credential = await app.token(bob);
    const made = await app.ask('POST', '/api/v1/data-lakes', { body: { name: 'His' }, credential });
    const { id } = (await made.json()) as { id: string };
    const fileId = await saveFile(app, 'x', { ...TYPE, ownerId: bob.id });
    await app.ledger.grant({ account: `user:${bob.id}`, amount: 1_000_000_000, key: 'b', reason: 'b' });
    await app.ask('POST', `/api/v1/data-lakes/${id}/files/${fileId}`, { credential });
    await app.api.start();
    const path = `/api/v1/data-lakes/${id}/files/${fileId}`;
    await until(async () => {
      const answer = await app.ask('GET', path, { credential });
      return ((await answer.json()) as { ingestion_status: string }).ingestion_status === 'ready';
    });
    expect(ends).toHaveLength(1);
    await app.api.drain(0);
  });

  it('is closed with the API', async () => {
    let closed = 0;
    const { extractor } = createExtractor(async () => ({ text: '' }));
    const close = async () => {
      closed += 1;
    };
    const app = await createTestApp({ extractors: [{ ...extractor, close }] });
    await app.api.close();
    expect(closed).toBe(1);
  });
});
