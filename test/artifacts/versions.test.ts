import { ARTIFACT_VERSIONS } from '@questline/core/internal';
import { forgetUser } from '@questline/core/personal-data';
import { describe, expect, it } from 'vitest';
import { type ChatApp, createChatApp } from '../support/chat.ts';

const PATH = '/api/v1/artifacts';

/** Two artifacts of one user, the first with two versions. */
async function createTwo() {
  const app: ChatApp = await createChatApp({ key: { scopes: ['notebooks:read', 'notebooks:write'] } });
  const add = async (content: string): Promise<string> => {
    const body = { type: 'code', title: content, content };
    const made = await app.json('POST', PATH, { body });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    return made.body.id;
  };
  const [first, second] = [await add('alpha'), await add('beta')];
  await app.json('PATCH', `${PATH}/${first}`, { body: { content: 'alpha again' } });
  const stored = app.services.store.collection(ARTIFACT_VERSIONS);
  const readStored = async () => (await stored.find({})).map(({ content }) => content).sort();
  const read = async (id: string, suffix = '') => (await app.json('GET', `${PATH}/${id}${suffix}`)).body;
  return { app, first, second, readStored, read };
}

describe('versions of two artifacts', () => {
  it('with the same number are read from their own artifact', async () => {
    const { first, second, read } = await createTwo();
    expect((await read(first, '/versions/1')).content).toBe('alpha');
    expect((await read(second, '/versions/1')).content).toBe('beta');
    expect([(await read(first)).content, (await read(second)).content]).toEqual(['alpha again', 'beta']);
  });

  it('are removed with their artifact, and those of the other one are not', async () => {
    const { app, first, readStored } = await createTwo();
    expect(await readStored()).toEqual(['alpha', 'alpha again', 'beta']);
    expect((await app.json('DELETE', `${PATH}/${first}`)).status).toBe(204);
    expect(await readStored()).toEqual(['beta']);
  });

  it('are erased with their owner', async () => {
    const { app, readStored } = await createTwo();
    expect(await readStored()).toHaveLength(3);
    await forgetUser(app.services, { userId: app.user.id });
    expect(await readStored()).toEqual([]);
  });
});
