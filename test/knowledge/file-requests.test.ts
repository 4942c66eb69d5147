import { LAKE_FILES, LAKES, STORAGE_USAGE } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import {
  ADDED,
  AWAY,
  FILE,
  LAKE,
  type LakeRequestApp,
  meanwhile,
  openLakeApp,
  toId,
} from '../support/lake-requests.ts';

const PATH = `/${LAKE}/files/${FILE}`;
const SHOWN = {
  ...{ lake_id: LAKE, file_id: FILE, file_name: 'a.txt', chunk_count: 0, vectorized_chunk_count: 0 },
  ...{ ingestion_status: 'not_ingested', error: null },
};
const usage = async ({ services }: LakeRequestApp) => services.store.collection(STORAGE_USAGE).find({});

async function open(...given: Parameters<typeof openLakeApp>) {
  const app = await openLakeApp(...given);
  await app.addLake({ status: 'draft' });
  await app.addFile();
  return app;
}

describe('a file that is added to a data lake', () => {
  it('counts for the lake and its owner, and waits for its ingestion', async () => {
    const app = await open();
    const { call, clock, lakes, lakeFiles, user, account, listJobs } = app;
    const { status, body } = await call('POST', PATH);
    expect([status, body]).toEqual([
      200,
      { lake_id: LAKE, file_id: FILE, file_count: 1, total_size_bytes: 5 },
    ]);
    const [record] = await lakeFiles.find({});
    const now = clock.now();
    expect(record).toEqual({
      ...{ id: record?.id, lakeId: LAKE, fileId: FILE, addedBy: user.id, countedTo: user.id, size: 5 },
      ...{ status: 'indexing', chunkCount: 0, vectorizedCount: 0, tries: 0, createdAt: now, updatedAt: now },
      ...{ payer: expect.objectContaining({ account }) as unknown, requestId: expect.any(String) as unknown },
    });
    expect(await lakes.get(LAKE)).toMatchObject({ status: 'active', updatedAt: now, fileCount: 1 });
    expect(await usage(app)).toEqual([{ id: `${user.id}:lakes`, bytes: 5 }]);
    expect(await listJobs()).toEqual([`data-lakes.ingest:${record?.id}`]);
    await lakes.update(LAKE, { status: 'archived' });
    await app.addFile({ id: toId(4) });
    expect((await call('POST', `/${LAKE}/files/${toId(4)}`)).body.file_count).toBe(2);
    expect((await lakes.get(LAKE))?.status).toBe('archived');
  });

  it('is refused if it is not clean, or too large for its owner', async () => {
    const pending = await openLakeApp();
    await Promise.all([pending.addLake(), pending.addFile({ status: 'pending' })]);
    const unclean = await pending.call('POST', PATH);
    expect([unclean.status, unclean.body.errorCode]).toEqual([422, 'unsupported_input']);
    const full = await open({
      change: ({ storageQuotas }) => ({ storageQuotas: { ...storageQuotas, lakes: 4 } }),
    });
    const refused = await full.call('POST', PATH);
    expect([refused.status, refused.body.errorCode]).toEqual([422, 'limit_exceeded']);
    expect([await full.lakeFiles.count({}), (await full.lakes.get(LAKE))?.fileCount]).toEqual([0, 0]);
    expect((await full.call('POST', `/${LAKE}/files/${toId(9)}`)).status).toBe(404);
  });

  it('is not added to a lake that is deleted meanwhile', async () => {
    const app: LakeRequestApp = await open({
      store: (store) => meanwhile(store, LAKES, () => app.lakes.update(LAKE, { status: 'deleting' })),
    });
    expect((await app.call('POST', PATH)).status).toBe(404);
    expect([await app.lakeFiles.find({}), await usage(app), await app.listJobs()]).toEqual([[], [], []]);
  });

  it('counts once if another request adds it meanwhile', async () => {
    const app: LakeRequestApp = await open({
      store: (store) => meanwhile(store, LAKE_FILES, () => app.addLakeFile()),
    });
    expect((await app.call('POST', PATH)).body).toMatchObject({ file_count: 0, total_size_bytes: 0 });
    expect([await app.lakeFiles.count({}), await usage(app)]).toEqual([1, []]);
  });

  it.each(['paused', 'failed'] as const)('is ingested again after it has %s', async (status) => {
    const { call, addLakeFile, lakes, lakeFiles, clock, listJobs } = await open();
    await addLakeFile({ status, error: 'why' });
    await lakes.update(LAKE, { status: 'archived' });
    expect((await call('POST', PATH)).status).toBe(200);
    expect(await lakeFiles.get(ADDED)).toMatchObject({ status, error: 'why' });
    await lakes.update(LAKE, { status: 'active' });
    expect((await call('POST', PATH)).body).toMatchObject({ file_count: 0 });
    const record = await lakeFiles.get(ADDED);
    expect([record?.status, record?.error, record?.updatedAt]).toEqual(['indexing', undefined, clock.now()]);
    expect(await listJobs()).toEqual([`data-lakes.ingest:${ADDED}`]);
  });

  it.each(['ready', 'indexing'] as const)('stays as it is while it is %s', async (status) => {
    const { call, addLakeFile, lakeFiles, listJobs } = await open();
    await addLakeFile({ status });
    expect((await call('POST', PATH)).status).toBe(200);
    expect([await lakeFiles.get(ADDED), await listJobs()]).toMatchObject([{ status, updatedAt: 5 }, []]);
  });

  it('is not ingested again if it is ready meanwhile', async () => {
    const app: LakeRequestApp = await open({
      store: (store) => meanwhile(store, LAKE_FILES, () => app.lakeFiles.update(ADDED, { status: 'ready' })),
    });
    await app.addLakeFile({ status: 'failed' });
    expect((await app.call('POST', PATH)).status).toBe(200);
    expect([(await app.lakeFiles.get(ADDED))?.status, await app.listJobs()]).toEqual(['ready', []]);
  });

  it('is added again after an error of the queue', async () => {
    const { call } = await open({ change: AWAY });
    expect((await call('POST', PATH)).status).toBe(500);
    const again = await open({ change: AWAY });
    await again.addLakeFile({ status: 'failed' });
    expect((await again.call('POST', PATH)).status).toBe(500);
  });

  it('of one lake is not one of another', async () => {
    const { call, addLake, addLakeFile, addFile, lakeFiles } = await open();
    await addLake({ id: toId(9) });
    await addLakeFile({ lakeId: toId(9), status: 'failed' });
    await addFile({ id: toId(4) });
    await addLakeFile({ id: toId(8), fileId: toId(4), status: 'failed' });
    expect((await call('GET', PATH)).body).toEqual(SHOWN);
    expect((await call('DELETE', PATH)).body).toMatchObject({ file_count: 0 });
    expect(await lakeFiles.count({})).toBe(2);
    expect((await call('POST', PATH)).body).toMatchObject({ file_count: 1 });
    expect([(await lakeFiles.get(ADDED))?.status, await lakeFiles.count({})]).toEqual(['failed', 3]);
  });
});

describe('a file of a data lake', () => {
  it('is shown with its progress', async () => {
    const { call, addLakeFile } = await open();
    await addLakeFile({ status: 'paused', chunkCount: 7, vectorizedCount: 3, error: 'why' });
    const progress = { ingestion_status: 'paused', chunk_count: 7, vectorized_chunk_count: 3, error: 'why' };
    expect((await call('GET', PATH)).body).toEqual({ ...SHOWN, ...progress });
    expect((await call('GET', `/${LAKE}/files`)).body.data).toEqual([{ ...SHOWN, ...progress }]);
    expect((await call('GET', `/${toId(7)}/files`)).status).toBe(404);
  });

  it('is listed in its lake only, in pages of its own', async () => {
    const { call, addLake, addLakeFile, addFile } = await open();
    await addLake({ id: toId(9) });
    for (const at of [10, 11]) {
      await addFile({ id: toId(at) });
      await addLakeFile({ id: toId(20 + at), fileId: toId(at), lakeId: toId(9), createdAt: at });
    }
    expect((await call('GET', `/${LAKE}/files`)).body.data).toEqual([]);
    const page = (await call('GET', `/${toId(9)}/files?limit=1`)).body;
    const rest = await call('GET', `/${toId(9)}/files?limit=1&cursor=${page.next_cursor}`);
    expect([page.data[0]?.file_id, rest.body.data[0]?.file_id]).toEqual([toId(10), toId(11)]);
    expect((await call('GET', `/${LAKE}/files?cursor=${page.next_cursor}`)).status).toBe(422);
  });

  it('is listed by the cursor of its reader only', async () => {
    const { call, lakes, addLakeFile, addFile, addUser, user, token, ask } = await open();
    await lakes.update(LAKE, { isPublic: true });
    for (const at of [10, 11]) {
      await addFile({ id: toId(at) });
      await addLakeFile({ id: toId(20 + at), fileId: toId(at) });
    }
    const { next_cursor } = (await call('GET', `/${LAKE}/files?limit=1`)).body;
    const path = `/api/v1/data-lakes/${LAKE}/files?limit=1&cursor=${next_cursor}`;
    const getStatus = async (who: typeof user) =>
      (await ask('GET', path, { credential: await token(who) })).status;
    expect([await getStatus(user), await getStatus(await addUser('bob@example.com'))]).toEqual([200, 422]);
  });

  it('is not counted in a lake that is gone meanwhile', async () => {
    const app: LakeRequestApp = await open({
      store: (store) =>
        meanwhile(store, LAKE_FILES, async () => {
          await app.addLakeFile();
          await app.lakes.take(LAKE);
        }),
    });
    const contents = { lake_id: LAKE, file_id: FILE, file_count: 0, total_size_bytes: 0 };
    expect(await app.call('POST', PATH)).toEqual({ status: 200, body: contents });
    const other: LakeRequestApp = await open({
      store: (store) => meanwhile(store, LAKE_FILES, () => other.lakes.take(LAKE)),
    });
    await other.addLakeFile();
    expect(await other.call('DELETE', PATH)).toEqual({ status: 200, body: contents });
  });

  it('leaves the lake with its bytes', async () => {
    const app = await open();
    await app.call('POST', PATH);
    const { status, body } = await app.call('DELETE', PATH);
    expect([status, body]).toEqual([
      200,
      { lake_id: LAKE, file_id: FILE, file_count: 0, total_size_bytes: 0 },
    ]);
    expect([await app.lakeFiles.count({}), (await usage(app))[0]?.bytes]).toEqual([0, 0]);
    const away = await open({ change: AWAY });
    await away.addLakeFile();
    expect((await away.call('DELETE', PATH)).status).toBe(500);
  });
});
