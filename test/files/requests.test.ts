import type { Services } from '@questline/core';
import { FILE_USAGE, FILES, type FileRecord } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { callAs } from '../support/sharing.ts';
import { createTestApp, type TestAppOptions } from '../support/test-app.ts';

const ID = 'a'.repeat(24);
const away = () => Promise.reject(new Error('away'));

async function open(change: (own: Services) => Partial<Services> = () => ({}), options: TestAppOptions = {}) {
  const jobs: (string | undefined)[] = [];
  const app = await createTestApp({
    ...options,
    services: (own) => ({
      ...own,
      queue: {
        ...own.queue,
        enqueue(job) {
          jobs.push(job.key);
          return own.queue.enqueue(job);
        },
      },
      ...change(own),
    }),
  });
  const files = app.services.store.collection(FILES);
  const add = (more: Partial<FileRecord> = {}) =>
    files.insert({
      ...{ id: ID, ownerId: app.user.id, name: 'a.txt', mimeType: 'text/plain', size: 5, status: 'clean' },
      ...{ source: 'upload', createdAt: 0, objectKey: 'files/1', ...more },
    });
  const call = <const Method extends string, const Path extends string>(
    method: Method,
    path: Path,
    body?: object,
  ) => callAs(app, app.user, method, path, body);
  return { ...app, files, add, call, jobs };
}

const QUEUE_AWAY = ({ queue }: Services) => ({ queue: { ...queue, enqueue: away } });
const ANNOUNCED = { file_name: 'a.txt', mime_type: 'text/plain', file_size: 5 };

describe('files of a user', () => {
  it('are listed by the cursor of their reader only', async () => {
    const { add, call, addUser, token, ask } = await open();
    for (const [at, id] of ['a', 'b'].entries()) await add({ id: id.repeat(24), createdAt: at });
    const { next_cursor } = (await call('GET', '/api/v1/files?limit=1')).body;
    const getStatus = async (path: string, credential: string) =>
      (await ask('GET', `/api/v1/${path}?cursor=${next_cursor}`, { credential })).status;
    const bob = await addUser('bob@example.com');
    expect(await getStatus('files', await token())).toBe(200);
    expect(await getStatus('files', await token(bob))).toBe(422);
    expect(await getStatus('projects', await token())).toBe(422);
  });

  it('are found by older clients, without those of others', async () => {
    const { add, call, addUser } = await open();
    await add();
    await add({ id: 'b'.repeat(24), ownerId: (await addUser('bob@example.com')).id });
    for (const query of ['', '?search=a.t']) {
      const { data } = (await call('GET', `/api/files/search${query}`)).body;
      expect(data.map(({ id }: { id: string }) => id)).toEqual([ID]);
    }
  });
});

it('shows older clients pages of files by age', async () => {
  const { add, call } = await open();
  for (const [at, id] of ['c', 'b', 'a'].entries()) await add({ id: id.repeat(24), createdAt: at });
  const read = async (page: number) => {
    const query = `pagination[page]=${page}&pagination[limit]=2`;
    const { data, hasMore } = (await call('GET', `/api/files/search?${query}`)).body;
    return [data.map(({ id }: { id: string }) => id[0]), hasMore];
  };
  expect([await read(1), await read(2)]).toEqual([
    [['c', 'b'], true],
    [['a'], false],
  ]);
});

describe('an announced upload', () => {
  it('is not stored without the job that ends it', async () => {
    const { call, files } = await open(QUEUE_AWAY);
    expect((await call('POST', '/api/v1/files', ANNOUNCED)).status).toBe(500);
    expect(await files.count({})).toBe(0);
  });

  it('takes no room if it cannot be stored', async () => {
    const { call, services } = await open(undefined, {
      store: (store) => ({
        ...store,
        transaction: (work, ...options) =>
          store.transaction(
            (inside) =>
              work({
                ...inside,
                collection(definition) {
                  const records = inside.collection(definition);
                  return definition.name === FILES.name ? { ...records, insert: away } : records;
                },
              }),
            ...options,
          ),
      }),
    });
    expect((await call('POST', '/api/v1/files', ANNOUNCED)).status).toBe(500);
    expect(await services.store.collection(FILE_USAGE).find({})).toEqual([]);
  });
});

describe('a file that is read', () => {
  const read = async (status: FileRecord['status'], isSigned: boolean, isThere: boolean) => {
    const heads: string[] = [];
    const { add, call, jobs } = await open(({ objects }) => ({
      objects: {
        ...objects,
        ...(isSigned && { signPut: () => Promise.reject(new Error('not used')) }),
        async head(key: string) {
          heads.push(key);
          return isThere ? { key, etag: 'e', size: 5, contentType: 'text/plain' } : undefined;
        },
      } as Services['objects'],
    }));
    await add({ status, ...(status === 'pending' && { objectKey: undefined as never }) });
    expect((await call('GET', `/api/v1/files/${ID}`)).status).toBe(200);
    return { heads, jobs };
  };

  it('is checked once it has arrived in a store that reports no uploads', async () => {
    const heads = [`uploads/${ID}`];
    expect(await read('pending', true, false)).toEqual({ heads, jobs: [] });
    expect(await read('pending', true, true)).toEqual({ heads, jobs: [`scan:${ID}`] });
    expect(await read('pending', false, true)).toEqual({ heads: [], jobs: [] });
    expect(await read('clean', true, true)).toEqual({ heads: [], jobs: [] });
  });

  it('has no notes at first', async () => {
    const { add, call } = await open();
    await add();
    expect((await call('GET', `/api/v1/files/${ID}`)).body.notes).toBeNull();
  });

  it('is asked for again if its check cannot begin', async () => {
    const { add, call } = await open((own) => ({
      ...QUEUE_AWAY(own),
      objects: {
        ...own.objects,
        signPut: away,
        head: async (key: string) => ({ key, etag: 'e', size: 5, contentType: 'text/plain' }),
      } as Services['objects'],
    }));
    await add({ status: 'pending' });
    expect((await call('GET', `/api/v1/files/${ID}`)).status).toBe(500);
  });
});

describe('a file that is deleted', () => {
  it('stays without the job that deletes its bytes', async () => {
    const { add, call, files } = await open(QUEUE_AWAY);
    await add();
    expect((await call('DELETE', `/api/v1/files/${ID}`)).status).toBe(500);
    expect(await files.count({})).toBe(1);
  });

  it('has no bytes before its upload', async () => {
    const removed: unknown[] = [];
    const { add, call } = await open(({ objects }) => ({
      objects: { ...objects, remove: async (key) => void removed.push(key) },
    }));
    await add({ status: 'pending', objectKey: undefined as never });
    expect((await call('DELETE', `/api/v1/files/${ID}`)).status).toBe(204);
    expect(removed).toEqual([]);
  });
});
