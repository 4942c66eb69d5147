import { SESSIONS } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { createChatApp } from '../support/chat.ts';
import { makeAgent, makeArtifact, makeFile, makeSession } from '../support/owned-resources.ts';
import { callAs, shareWith } from '../support/sharing.ts';

async function setUp() {
  const app = await createChatApp();
  const grace = await app.addUser('grace@example.com');
  await app.services.adminSettings.set('EnableDataLakes', true);
  return { app, ada: app.user, grace };
}

type SetUp = Awaited<ReturnType<typeof setUp>>;

async function makeLake({ app, ada }: SetUp, name = 'Papers', who = ada): Promise<string> {
  return (await callAs(app, who, 'POST', '/api/v1/data-lakes', { name })).body.id;
}

const read = async ({ app, ada }: SetUp, id: string) =>
  (await callAs(app, ada, 'GET', `/api/sessions/${id}`)).body;

describe('links of a session to deleted resources', () => {
  it('leave the session and its clones at once, and can be written back', async () => {
    const all = await setUp();
    const { app, ada } = all;
    const [file, kept] = [await makeFile(app, ada), await makeFile(app, ada)];
    const [artifact, agent] = [await makeArtifact(app, ada), await makeAgent(app, ada)];
    const lake = await makeLake(all);
    const lists = {
      knowledgeIds: [file, kept],
      artifactIds: [artifact],
      agentIds: [agent],
      dataLakeId: lake,
    };
    const { body: session } = await callAs(app, ada, 'POST', '/api/v1/sessions', { name: 'Notes', ...lists });
    expect(session).toMatchObject(lists);
    const asRead = await read(all, session.id);
    for (const path of [`files/${file}`, `artifacts/${artifact}`, `agents/${agent}`, `data-lakes/${lake}`])
      expect((await callAs(app, ada, 'DELETE', `/api/v1/${path}`)).status).toBe(204);

    const left = { knowledgeIds: [kept], artifactIds: [], agentIds: [], dataLakeId: null };
    expect(await read(all, session.id)).toMatchObject(left);
    const clone = await callAs(app, ada, 'POST', `/api/v1/sessions/${session.id}/clone`, {});
    expect(clone.body).toMatchObject(left);
    const { knowledgeIds, artifactIds, agentIds, dataLakeId } = asRead;
    const more = await makeFile(app, ada);
    const whole = { name: 'Notes', knowledgeIds: [...knowledgeIds, more], artifactIds, agentIds, dataLakeId };
    const written = await callAs(app, ada, 'PUT', `/api/sessions/${session.id}`, whole);
    expect(written).toMatchObject({ status: 200, body: { ...left, knowledgeIds: [kept, more] } });
  });

  it('are removed from the stored lists, so that the list of sessions shows none', async () => {
    const all = await setUp();
    const { app, ada } = all;
    const lists = {
      knowledgeIds: [await makeFile(app, ada)],
      artifactIds: [await makeArtifact(app, ada)],
      dataLakeId: await makeLake(all),
    };
    await callAs(app, ada, 'POST', '/api/v1/sessions', { name: 'Notes', ...lists });
    await callAs(app, ada, 'DELETE', `/api/v1/files/${lists.knowledgeIds[0]}`);
    await callAs(app, ada, 'DELETE', `/api/v1/artifacts/${lists.artifactIds[0]}`);
    await callAs(app, ada, 'DELETE', `/api/v1/data-lakes/${lists.dataLakeId}`);
    await app.settle();
    const { body } = await callAs(app, ada, 'GET', '/api/v1/sessions');
    expect(body.data).toMatchObject([{ knowledgeIds: [], artifactIds: [], dataLakeId: null }]);
  });
});

describe('new link of a session', () => {
  it('must be readable, and the error names its id', async () => {
    const all = await setUp();
    const { app, ada, grace } = all;
    const id = await makeSession(app, ada);
    const [mine, theirs] = [await makeFile(app, ada), await makeFile(app, grace)];
    const put = (body: object) => callAs(app, ada, 'PUT', `/api/sessions/${id}`, body);
    expect(await put({ knowledgeIds: [mine, theirs] })).toMatchObject({
      status: 404,
      body: { error: `File ${theirs} not found` },
    });
    expect((await put({ agentIds: ['f'.repeat(24)] })).body.error).toBe(`Agent ${'f'.repeat(24)} not found`);
    expect((await put({ artifactIds: ['my secret'] })).body.error).toBe('Artifact not found');
    expect((await read(all, id)).knowledgeIds).toEqual([]);
  });
});

describe('links of a session that a user may write', () => {
  it('are added and removed per user, without affecting the links of the others', async () => {
    const all = await setUp();
    const { app, ada, grace } = all;
    const [hers, other] = [await makeFile(app, ada), await makeFile(app, ada)];
    const body = { name: 'Notes', knowledgeIds: [hers, other] };
    const { id } = (await callAs(app, ada, 'POST', '/api/v1/sessions', body)).body;
    await shareWith(app, ada, `session/${id}`, grace, 'write');
    const put = async (change: object) => {
      const answer = await callAs(app, grace, 'PUT', `/api/sessions/${id}`, change);
      return [answer.status, answer.body.knowledgeIds];
    };
    const mine = await makeFile(app, grace);
    // The complete record as it was read, with one more link.
    expect(await put({ name: 'Renamed', knowledgeIds: [hers, other, mine] })).toEqual([
      200,
      [hers, other, mine],
    ]);
    expect(await put({ knowledgeIds: [mine] })).toEqual([200, [mine, hers, other]]);
    expect(await put({ knowledgeIds: [] })).toEqual([200, [hers, other]]);
    expect(await put({ knowledgeIds: [mine, other] })).toEqual([200, [mine, other, hers]]);
    // The owner removes a link of another user.
    const all200 = await callAs(app, ada, 'PUT', `/api/sessions/${id}`, { knowledgeIds: [hers] });
    expect(all200.body.knowledgeIds).toEqual([hers]);
    const stored = await app.services.store.collection(SESSIONS).get(id);
    expect(stored?.linkedBy).toBeUndefined();
  });

  it('count towards the maximum together with those of the others', async () => {
    const all = await setUp();
    const { app, ada, grace } = all;
    const id = await makeSession(app, ada);
    await shareWith(app, ada, `session/${id}`, grace, 'write');
    const many = Array.from({ length: 500 }, (_, at) => at.toString(16).padStart(24, 'e'));
    const { store } = app.services;
    const links = {
      ...app.services.links,
      findExisting: async (_: unknown, ids: readonly string[]) => new Set(ids),
    };
    Object.assign(app.services, { links });
    await store.collection(SESSIONS).update(id, { knowledgeIds: many });
    const mine = await makeFile(app, grace);
    const full = await callAs(app, grace, 'PUT', `/api/sessions/${id}`, { knowledgeIds: [mine] });
    expect([full.status, full.body.error]).toEqual([
      422,
      'knowledgeIds: the session has the maximum of 500 with the links of other users',
    ]);
  });
});

describe('data lake of a session', () => {
  it('is shown, replaced and removed', async () => {
    const all = await setUp();
    const { app, ada } = all;
    const [first, second] = [await makeLake(all), await makeLake(all, 'Reports')];
    const { id } = (await callAs(app, ada, 'POST', '/api/v1/sessions', { name: 'N', dataLakeId: first }))
      .body;
    const put = async (dataLakeId: string | null) =>
      (await callAs(app, ada, 'PUT', `/api/sessions/${id}`, { dataLakeId })).body.dataLakeId;
    expect((await read(all, id)).dataLakeId).toBe(first);
    expect(await put(second)).toBe(second);
    expect(await put(null)).toBeNull();
    expect((await read(all, id)).dataLakeId).toBeNull();
    const without = await callAs(app, ada, 'POST', '/api/v1/sessions', { name: 'N', dataLakeId: null });
    expect(without).toMatchObject({ status: 200, body: { dataLakeId: null } });
  });

  it('is replaced by its owner and by the user who chose it', async () => {
    const all = await setUp();
    const { app, ada, grace } = all;
    const id = await makeSession(app, ada);
    await shareWith(app, ada, `session/${id}`, grace, 'write');
    const [hers, mine] = [await makeLake(all), await makeLake(all, 'Mine', grace)];
    const put = async (who: typeof ada, dataLakeId: string | null) => {
      const { status, body } = await callAs(app, who, 'PUT', `/api/sessions/${id}`, { dataLakeId });
      return status === 200 ? body.dataLakeId : status;
    };
    expect(await put(grace, mine)).toBe(mine);
    expect(await put(grace, null)).toBeNull();
    expect(await put(ada, hers)).toBe(hers);
    expect(await put(grace, hers)).toBe(hers);
    expect([await put(grace, mine), await put(grace, null)]).toEqual([403, 403]);
    expect(await put(ada, null)).toBeNull();
  });
});
