import { ARTIFACTS, SESSIONS } from '@questline/core/internal';
import { StorageUnavailable } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { withLateWrites } from '../../packages/core/test/late-store.ts';
import { makeSession } from '../support/owned-resources.ts';
import { callAs, shareWith } from '../support/sharing.ts';
import { createBreakableStore } from '../support/store.ts';
import { createTestApp, type TestAppOptions } from '../support/test-app.ts';

/* The artifact and the session of another user may be in different databases: they are written one after the other. */

async function createApp(options: TestAppOptions = {}) {
  const app = await createTestApp(options);
  const owner = await app.addUser('owner@example.com');
  const sessionId = await makeSession(app, owner);
  await shareWith(app, owner, `session/${sessionId}`, app.user, 'write');
  const body = { type: 'code', title: 'Loop', content: 'for (;;);', session_id: sessionId };
  const create = () => callAs(app, app.user, 'POST', '/api/v1/artifacts', body);
  const readStored = async () => {
    const { store } = app.services;
    const session = await store.collection(SESSIONS).get(sessionId);
    const artifacts = await store.collection(ARTIFACTS).find({});
    return { linked: session?.artifactIds ?? [], artifacts: artifacts.map(({ id }) => id) };
  };
  const readShown = async () =>
    (await callAs(app, owner, 'GET', `/api/sessions/${sessionId}`)).body.artifactIds;
  return { app, create, readStored, readShown };
}

describe('an artifact in a shared session', () => {
  it('is not linked if it is refused', async () => {
    const { app, create, readStored } = await createApp({
      settings: { storageQuotas: { artifacts: 100 } },
      store: withLateWrites,
    });
    expect((await create()).status).toBe(422);
    expect(await readStored()).toEqual({ linked: [], artifacts: [] });
    await app.api.close();
  });

  it('keeps its link when the outcome of its write is lost', async () => {
    const { app, create, readStored, readShown } = await createApp({
      store: (memory) => ({
        ...memory,
        async transaction(work, options) {
          const result = await memory.transaction(work, options);
          if ((await memory.collection(ARTIFACTS).count({})) > 0) throw new StorageUnavailable('lost');
          return result;
        },
      }),
    });
    expect((await create()).status).toBe(503);
    const { linked, artifacts } = await readStored();
    expect(artifacts).toHaveLength(1);
    expect(linked).toEqual(artifacts);
    expect(await readShown()).toEqual(artifacts);
    await app.api.close();
  });

  it('exists with its link, or neither is shown, when the store fails at any call', async () => {
    const breakable = createBreakableStore();
    const { app, create, readStored, readShown } = await createApp({ store: breakable.wrap });
    let isDone = false;
    for (let calls = 0; !isDone; calls += 1) {
      const before = await readStored();
      breakable.failure = new StorageUnavailable('lost');
      breakable.callsBeforeFailure = calls;
      const { status } = await create();
      breakable.failure = undefined;
      const after = await readStored();
      expect([201, 503], `call ${calls}`).toContain(status);
      isDone = status === 201;
      expect(after.artifacts, `call ${calls}`).toHaveLength(before.artifacts.length + (isDone ? 1 : 0));
      expect(after.linked, `call ${calls}`).toEqual(expect.arrayContaining(after.artifacts));
      expect(await readShown(), `call ${calls}`).toEqual(after.artifacts);
    }
    await app.api.close();
  });
});
