import { MESSAGES } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { createChatApp } from '../support/chat.ts';
import { makeSession } from '../support/owned-resources.ts';
import { shareWith } from '../support/sharing.ts';
import { NOW } from '../support/test-app.ts';

async function setUp() {
  const app = await createChatApp({ started: false });
  const [id, other] = [await makeSession(app, app.user), await makeSession(app, app.user)];
  for (const [at, sessionId] of [id, id, other, id].entries()) {
    await app.services.store.collection(MESSAGES).insert({
      id: app.services.ids.next(),
      sessionId,
      ownerId: app.user.id,
      role: at % 2 === 0 ? 'user' : 'assistant',
      content: `${at}`,
      createdAt: NOW + at,
      ...(at === 1 && { questId: 'q' }),
    });
  }
  return { app, id };
}

const contents = (list: readonly { content: string }[]) => list.map(({ content }) => content).join('');

describe.each([
  ['/api/sessions', 'messages'],
  ['/api/v1/sessions', 'data'],
] as const)('the messages of a session at %s', (base, field) => {
  it('are those of this session, the newest first or last', async () => {
    const { app, id } = await setUp();
    const credential = await app.token();
    const list = async (query = '') =>
      (await app.json('GET', `${base}/${id}/messages${query}`, { credential })).body[field];
    expect(contents(await list('?order=desc'))).toBe('310');
    const oldestFirst = await list('?order=asc');
    expect(contents(oldestFirst)).toBe('013');
    expect(oldestFirst.slice(0, 2)).toEqual([
      {
        id: expect.any(String),
        role: 'user',
        content: '0',
        questId: null,
        createdAt: '2026-11-21T12:00:00.000Z',
      },
      {
        id: expect.any(String),
        role: 'assistant',
        content: '1',
        questId: 'q',
        createdAt: '2026-11-21T12:00:00.001Z',
      },
    ]);
    expect(contents(await list('?limit=2&order=desc'))).toBe('31');
  });

  it('are shown to a user with a share, and to no other', async () => {
    const { app, id } = await setUp();
    const grace = await app.addUser('grace@example.com');
    const ask = async () => app.json('GET', `${base}/${id}/messages`, { credential: await app.token(grace) });
    expect((await ask()).status).toBe(404);
    await shareWith(app, app.user, `session/${id}`, grace);
    expect((await ask()).body[field]).toHaveLength(3);
  });
});
