import type { UserRecord } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { type ChatApp, createChatApp } from '../support/chat.ts';
import { addOrganization } from '../support/people.ts';
import { callAs, shareWith } from '../support/sharing.ts';

const SUMS = /\d/;

interface Refused {
  readonly app: ChatApp;
  readonly sessionId: string;
  /** May write to the session of the app's user, and has 0.001 credits. */
  readonly guest: UserRecord;
  readonly token: string;
}

async function setUp(): Promise<Refused> {
  const app = await createChatApp();
  const guest = await app.addUser('grace@example.com');
  await app.ledger.grant({ account: `user:${guest.id}`, amount: 1000, key: 'few', reason: 'few' });
  const { body } = await app.json('POST', '/api/v1/sessions', { body: { name: 'Shared' } });
  await shareWith(app, app.user, `session/${body.id}`, guest, 'write');
  return { app, sessionId: body.id, guest, token: await app.token(guest) };
}

/** The end of the live events of a quest. */
async function readEnd(app: ChatApp, path: string, credential: string): Promise<string> {
  const reading = app.ask('GET', path, { credential }).then((response) => response.text());
  await app.settle();
  await app.clock.advance(1000);
  return reading;
}

describe('a turn in a shared session that is refused for lack of credit', () => {
  it('shows the balance to its user only', async () => {
    const { app, sessionId, guest, token } = await setUp();
    const { id } = (await app.chat({ message: 'Hi', sessionId }, { credential: token })).body;
    await app.settle();
    const path = `/api/v1/quests/${id}` as const;
    const own = await callAs(app, guest, 'GET', path);
    expect(own.body).toMatchObject({
      errorCode: 'insufficient_credits',
      reply: expect.stringContaining('You have 0.001 credits'),
    });
    const others = [
      await callAs(app, app.user, 'GET', path),
      await callAs(app, app.user, 'POST', `${path}/cancel`),
    ];
    for (const { status, body } of others) {
      expect(status).toBe(200);
      expect(body).toEqual({ ...own.body, reply: 'Insufficient credits.' });
    }
    expect(await readEnd(app, `${path}/events`, token)).toContain('0.001');
    const events = await readEnd(app, `${path}/events`, await app.token());
    expect(events).toContain('Insufficient credits.');
    expect(events).not.toContain('0.001');
  });

  it('shows neither the balance of an organization nor its budget', async () => {
    const { app, sessionId, guest, token } = await setUp();
    const { id: organizationId } = await addOrganization(app, { ownerId: guest.id });
    const account = `organization:${organizationId}`;
    await app.ledger.grant({ account, amount: 2000, key: 'organization', reason: 'few' });
    const ask = { message: 'Hi', sessionId, organizationId };
    const { id } = (await app.chat(ask, { credential: token })).body;
    await app.settle();
    const reply = async (who: UserRecord) =>
      (await callAs(app, who, 'GET', `/api/v1/quests/${id}`)).body.reply;
    expect(await reply(guest)).toContain('The organization has 0.002 credits');
    expect(await reply(app.user)).not.toMatch(SUMS);
  });

  it('is an agent run, too', async () => {
    const { app, sessionId, guest, token } = await setUp();
    const started = await app.json('POST', '/api/v1/agent-executions', {
      body: { session_id: sessionId, message: 'Work' },
      credential: token,
    });
    expect(started.status).toBe(202);
    await app.settle();
    const path = `/api/v1/agent-executions/${started.body.id}` as const;
    expect((await callAs(app, guest, 'GET', path)).body).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('You have 0.001 credits'),
    });
    for (const { body } of [
      await callAs(app, app.user, 'GET', path),
      await callAs(app, app.user, 'POST', `${path}/cancel`),
    ]) {
      expect(body.error).toBe('Insufficient credits.');
    }
    expect(await readEnd(app, `${path}/events`, await app.token())).not.toContain('0.001');
  });
});
