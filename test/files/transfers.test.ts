import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApi, createServices, toFetchHandler } from '@questline/core';
import { createDirectoryObjects } from '@questline/core/directory';
import { TRANSFERS } from '@questline/core/internal';
import { createIds, createMemoryObjects } from '@questline/core/memory';
import type { ObjectStore } from '@questline/core/ports';
import { afterEach, describe, expect, it } from 'vitest';
import { createFileApp, type FileApp } from '../support/files.ts';

const BYTES = 300_000;
const TRANSFERS_AT_ONCE = 12;

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'questline-transfers-'));
  folders.push(folder);
  return folder;
}

async function countBytes(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(files.map(({ parentPath, name }) => stat(join(parentPath, name))));
  return sizes.reduce((sum, { size }) => sum + size, 0);
}

/** A body that holds back its last byte until it is released or fails. */
function heldBody(bytes = BYTES) {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let isRead = false;
  const stream = new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given;
      },
      pull() {
        if (isRead) return;
        isRead = true;
        controller?.enqueue(new Uint8Array(bytes - 1));
      },
    },
    { highWaterMark: 0 },
  );
  return {
    stream,
    get isRead() {
      return isRead;
    },
    finish(more = 1) {
      controller?.enqueue(new Uint8Array(more));
      controller?.close();
    },
    break: () => controller?.error(new Error('the sender left')),
  };
}

function sendBody(handle: ReturnType<typeof toFetchHandler>, url: string, body: ReadableStream<Uint8Array>) {
  const request = new Request(new URL(url, 'http://questline.test'), {
    method: 'PUT',
    headers: { 'Content-Type': 'text/plain' },
    body,
    duplex: 'half',
  } as RequestInit);
  return handle(request).then((response) => response?.status);
}

const STORES: readonly { readonly name: string; readonly create: (folder: string) => ObjectStore }[] = [
  { name: 'memory', create: () => createMemoryObjects() },
  { name: 'a folder', create: (folder) => createDirectoryObjects({ folder }) },
];

describe.each(STORES)('upload address over $name', ({ create }) => {
  async function setUp() {
    const folder = await newFolder();
    const objects = create(folder);
    const app = await createFileApp({ objects });
    const { url } = await app.announce({ file_size: BYTES });
    return { folder, objects, app, url, handle: toFetchHandler(app.api) };
  }
  const untilRead = (app: FileApp, body: ReturnType<typeof heldBody>) => app.until(async () => body.isRead);

  it('accepts one transfer at a time and rejects others before it reads their bytes', async () => {
    const { folder, app, url, handle } = await setUp();
    const first = heldBody();
    const answer = sendBody(handle, url, first.stream);
    await untilRead(app, first);
    const others = Array.from({ length: TRANSFERS_AT_ONCE - 1 }, () => heldBody());
    const statuses = await Promise.all(others.map(({ stream }) => sendBody(handle, url, stream)));
    expect(statuses).toEqual(others.map(() => 409));
    expect(others.filter(({ isRead }) => isRead)).toEqual([]);
    expect(await countBytes(folder)).toBeLessThan(2 * BYTES);
    first.finish();
    expect(await answer).toBe(204);
    expect(await app.services.store.collection(TRANSFERS).count({})).toBe(0);
    expect(await sendBody(handle, url, heldBody().stream)).toBe(403);
  });

  it('starts exactly one of parallel transfers', async () => {
    const { app, url, handle } = await setUp();
    const bodies = Array.from({ length: TRANSFERS_AT_ONCE }, () => heldBody());
    const answers = bodies.map(({ stream }) => sendBody(handle, url, stream));
    await app.until(async () => bodies.some(({ isRead }) => isRead));
    await app.settle();
    expect(bodies.filter(({ isRead }) => isRead)).toHaveLength(1);
    bodies.find(({ isRead }) => isRead)?.finish();
    const statuses = await Promise.all(answers);
    expect(statuses.filter((status) => status === 204)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(TRANSFERS_AT_ONCE - 1);
  });

  it('keeps nothing of a truncated or overlong transfer and can be used again', async () => {
    const { folder, app, url, handle } = await setUp();
    const broken = heldBody();
    const brokenAnswer = sendBody(handle, url, broken.stream);
    await untilRead(app, broken);
    broken.break();
    expect(await brokenAnswer).toBe(400);
    const long = heldBody();
    const longAnswer = sendBody(handle, url, long.stream);
    await untilRead(app, long);
    long.finish(2);
    expect(await longAnswer).toBe(413);
    expect(await countBytes(folder)).toBe(0);
    const last = heldBody();
    const lastAnswer = sendBody(handle, url, last.stream);
    await untilRead(app, last);
    last.finish();
    expect(await lastAnswer).toBe(204);
  });

  it('is shared by all processes, locked during a transfer and free a minute after its process ended', async () => {
    const { app, objects, url, handle } = await setUp();
    const { services, clock } = app;
    const elsewhere = createApi(
      createServices(
        { ...services, models: [], objects, clock, ids: createIds({ clock }) },
        { jwtSecret: 'a'.repeat(64), secretEncryptionKey: 'b'.repeat(64) },
      ),
    );
    const there = toFetchHandler(elsewhere);
    const first = heldBody();
    const answer = sendBody(handle, url, first.stream);
    await untilRead(app, first);
    await clock.advance(300_000);
    expect(await sendBody(there, url, heldBody().stream)).toBe(409);
    first.break();
    expect(await answer).toBe(400);

    const transfers = services.store.collection(TRANSFERS);
    const second = heldBody();
    const secondAnswer = sendBody(handle, url, second.stream);
    await untilRead(app, second);
    // The state that a dead process leaves: the lock is no longer renewed.
    const [left] = await transfers.find({});
    if (left === undefined) throw new Error('expected a transfer');
    await transfers.update(left.id, { holder: 'ended' });
    expect(await sendBody(there, url, heldBody().stream)).toBe(409);
    await clock.advance(61_000);
    const third = heldBody();
    const thirdAnswer = sendBody(there, url, third.stream);
    await untilRead(app, third);
    third.finish();
    expect(await thirdAnswer).toBe(204);
    second.break();
    expect(await secondAnswer).not.toBe(204);
  });
});
