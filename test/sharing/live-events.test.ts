import { revokeApiKey, type UserRecord } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { type ChatApp, createChatApp, silent } from '../support/chat.ts';
import { callAs, shareWith } from '../support/sharing.ts';

/** The text of a stream so far. */
function readText(response: Response) {
  const read = { text: '', isOver: false };
  const follow = async (): Promise<void> => {
    for await (const bytes of response.body ?? []) read.text += new TextDecoder().decode(bytes);
    read.isOver = true;
  };
  void follow();
  return read;
}

describe('a reader of a shared session', () => {
  it.each([
    ['live events of a quest', (_: string, quest: string) => `/api/v1/quests/${quest}/events`],
    ['a running answer of useChat', (session: string) => `/api/chat/${session}/stream`],
  ])('gets no more of %s 15 seconds after the owner ends the share', async (_, toPath) => {
    const app = await createChatApp({ onCall: silent });
    const grace: UserRecord = await app.addUser('grace@example.com');
    const { body } = await app.chat({ message: 'Hi' });
    await app.settle();
    await shareWith(app, app.user, `session/${body.sessionId}`, grace);
    const path = toPath(String(body.sessionId), String(body.id));
    const response = await app.ask('GET', path, { credential: await app.token(grace) });
    expect(response.status).toBe(200);
    const read = readText(response);
    const say = async (text: string): Promise<void> => {
      app.calls[0]?.say({ type: 'text', text });
      await app.clock.advance(5000);
      await app.settle();
    };
    await say('Nile, ');
    await say('Amazon, ');
    expect(read.text).toContain('Amazon, ');

    const ended = await callAs(app, app.user, 'POST', `/api/session/${body.sessionId}/revokeSharing`, {
      userId: grace.id,
    });
    expect(ended.status).toBe(200);
    for (let second = 0; second < 15; second += 5) await say('Congo, ');
    await say('secret');
    await say('secret');
    expect(read.text).not.toContain('secret');
    expect(read.isOver).toBe(true);
    app.calls[0]?.end();
  });
});

describe('a reader of live events', () => {
  it.each<[string, (app: ChatApp) => Promise<string>, (app: ChatApp) => Promise<unknown>]>([
    [
      'its API key is revoked',
      async (app) => app.key,
      ({ services, user, keyId }) => revokeApiKey(services, user.id, keyId),
    ],
    [
      'its user signs out',
      (app) => app.token(),
      async (app) => app.ask('GET', '/api/logout', { credential: await app.token() }),
    ],
  ])('gets no more 15 seconds after %s', async (_, issue, end) => {
    const app = await createChatApp({ onCall: silent });
    const credential = await issue(app);
    const { body } = await app.chat({ message: 'Hi' });
    await app.settle();
    const response = await app.ask('GET', `/api/v1/quests/${body.id}/events`, { credential });
    expect(response.status).toBe(200);
    const read = readText(response);
    const say = async (text: string): Promise<void> => {
      app.calls[0]?.say({ type: 'text', text });
      await app.clock.advance(5000);
      await app.settle();
    };
    await say('Nile, ');
    expect(read.text).toContain('Nile, ');

    await end(app);
    for (let second = 0; second < 15; second += 5) await say('Congo, ');
    await say('secret');
    await say('secret');
    expect(read.text).not.toContain('secret');
    expect(read.isOver).toBe(true);
    app.calls[0]?.end();
  });
});
