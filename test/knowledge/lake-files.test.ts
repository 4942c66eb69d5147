import { describe, expect, it } from 'vitest';
import { makeFile } from '../support/owned-resources.ts';
import { callAs, shareWith } from '../support/sharing.ts';
import { createCountingStore } from '../support/store.ts';
import { createTestApp } from '../support/test-app.ts';

async function setUp() {
  const counting = createCountingStore();
  const app = await createTestApp({ store: counting.wrap });
  await app.services.adminSettings.set('EnableDataLakes', true);
  const { body } = await callAs(app, app.user, 'POST', '/api/v1/data-lakes', { name: 'Papers' });
  const add = async () => {
    const file = await makeFile(app, app.user);
    await callAs(app, app.user, 'POST', `/api/v1/data-lakes/${body.id}/files/${file}`, {});
    return file;
  };
  const list = async (query = '') =>
    (await callAs(app, app.user, 'GET', `/api/v1/data-lakes/${body.id}/files${query}`)).body;
  return { app, counting, id: body.id as string, add, list };
}

describe('files of a data lake', () => {
  it('are listed page by page, without deleted ones, with a constant number of store calls', async () => {
    const { app, counting, add, list } = await setUp();
    const ids = [await add()];
    const count = async () => {
      counting.calls = 0;
      await list();
      return counting.calls;
    };
    const one = await count();
    for (let more = 0; more < 4; more += 1) {
      await app.clock.advance(1);
      ids.push(await add());
    }
    expect(await count()).toBe(one);
    const first = await list('?limit=3');
    const rest = await list(`?limit=3&cursor=${first.next_cursor}`);
    const seen = [...first.data, ...rest.data].map(({ file_id }: { file_id: string }) => file_id);
    expect(seen).toEqual(ids);
    expect(rest.next_cursor).toBeNull();
    await callAs(app, app.user, 'DELETE', `/api/v1/files/${ids[0]}`);
    expect((await list()).data).toHaveLength(4);
  });

  it('wait while the lake is archived, and report it', async () => {
    const { app, id, add, list } = await setUp();
    await callAs(app, app.user, 'PATCH', `/api/v1/data-lakes/${id}`, { status: 'archived' });
    await add();
    expect((await list()).data).toMatchObject([
      { ingestion_status: 'paused', error: 'The data lake is archived.' },
    ]);
  });
});

describe('notes of a file', () => {
  it('are shown to users who may change it', async () => {
    const { app } = await setUp();
    const grace = await app.addUser('grace@example.com');
    const id = await makeFile(app, app.user);
    await callAs(app, app.user, 'PATCH', `/api/v1/files/${id}`, { notes: 'Read this.' });
    const notes = async (
      who: typeof grace,
      path: `/api/${'file' | 'files' | 'v1/files'}/${string}` = `/api/v1/files/${id}`,
    ) => (await callAs(app, who, 'GET', path)).body.notes;
    expect(await notes(app.user)).toBe('Read this.');
    await shareWith(app, app.user, `file/${id}`, grace, 'read');
    expect([await notes(grace), await notes(grace, `/api/file/${id}`)]).toEqual([null, null]);
    await shareWith(app, app.user, `file/${id}`, grace, 'write');
    expect([await notes(grace), await notes(grace, `/api/file/${id}`)]).toEqual(['Read this.', 'Read this.']);
  });
});
