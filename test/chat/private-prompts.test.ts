import { COLLECTIONS } from '@questline/core';
import { SESSIONS } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { addAgent } from '../support/agents.ts';
import {
  answerParts,
  type ChatApp,
  type ChatAppOptions,
  createChatApp,
  type Quest,
} from '../support/chat.ts';

/* Prompt texts belong to the user or host that wrote them. Other users see only which parts exist. */

const AGENT = 'AGENT-SECRET-PROMPT';
const SESSION = 'SESSION-SECRET-PROMPT';
const HOST = 'HOST-SECRET-PROMPT';
const OWN = 'OWN-REQUEST-PROMPT';
const GRACE = 'a'.repeat(24);

/** Ada's session with a system prompt and a published agent of hers, and Bob, who has write access. */
async function createStage(options: ChatAppOptions = {}) {
  const app = await createChatApp({
    ...options,
    settings: { systemPrompt: HOST, admin: { DefaultAPIModel: 'scripted' }, ...options.settings },
  });
  const bob = await app.addUser('bob@example.com');
  await app.ledger.grant({ account: `user:${bob.id}`, amount: 1e9, key: 'bob', reason: 'start' });
  await addAgent(app, { id: GRACE, name: 'Grace', isPublic: true, systemPrompt: AGENT });
  const { body } = await app.json('POST', '/api/v1/sessions', {
    body: { name: 'Work', systemPromptText: SESSION },
  });
  await app.services.store.collection(SESSIONS).update(body.id, { writerIds: [bob.id] });
  return { app, sessionId: body.id as string, asBob: { credential: await app.token(bob) } };
}

const ASK = {
  message: '@grace hello',
  enableAgents: true,
  systemPrompt: OWN,
  includeSystemPrompt: true,
  includePromptDetails: true,
};

const withheld = (details: Quest['promptDetails']): string[] =>
  details.filter((part) => part.withheld === true).map(({ name }) => name);

describe('field includeSystemPrompt', () => {
  it('returns users their own text and only the names of other parts', async () => {
    const { app, sessionId, asBob } = await createStage();
    const { body } = await app.chat({ ...ASK, sessionId, wait: true }, asBob);
    const sent = JSON.stringify(app.calls[0]?.request.messages);
    for (const text of [AGENT, SESSION, HOST, OWN]) expect(sent).toContain(text);
    for (const text of [AGENT, SESSION, HOST]) expect(JSON.stringify(body)).not.toContain(text);
    expect(body.promptText).toContain(OWN);
    expect(body.promptText).toContain('[not shown: agent:Grace]');
    expect(withheld(body.promptDetails)).toEqual(['workspace', 'session', 'agent:Grace']);
    expect(body.promptDetails.every(({ wasIncluded }: { wasIncluded: boolean }) => wasIncluded)).toBe(true);
  });

  it('returns owners the texts of their agent and session, but not that of the host', async () => {
    const { app, sessionId } = await createStage();
    const { body } = await app.chat({ ...ASK, sessionId, wait: true });
    for (const text of [AGENT, SESSION, OWN]) expect(body.promptText).toContain(text);
    expect(body.promptText).not.toContain(HOST);
    expect(withheld(body.promptDetails)).toEqual(['workspace']);
  });

  it('stores the text with a quest that is not awaited, for the requesting user only', async () => {
    const { app, sessionId, asBob } = await createStage();
    const { body } = await app.chat({ ...ASK, sessionId }, asBob);
    await app.settle();
    const path = `/api/v1/quests/${body.id}` as const;
    const { body: own } = await app.json('GET', path, asBob);
    expect(own.status).toBe('done');
    expect(own.promptText).toContain(OWN);
    expect(withheld(own.promptDetails)).toEqual(['workspace', 'session', 'agent:Grace']);
    const { body: others } = await app.json('GET', path);
    expect(others.status).toBe('done');
    expect([others.promptText, others.promptDetails]).toEqual([undefined, undefined]);
    expect(JSON.stringify(others)).not.toContain(OWN);
  });

  it('stores no text for a user who did not request it', async () => {
    const { app } = await createStage();
    const { body } = await app.chat({ message: 'Hi', systemPrompt: OWN, wait: true });
    const quest = await app.poll(body.id);
    expect([quest.promptText, quest.promptDetails]).toEqual([undefined, undefined]);
  });
});

describe('system prompt of a session', () => {
  it('is copied by the owner, but not by a user who may not read it', async () => {
    const { app, sessionId, asBob } = await createStage();
    const clone = async (more: object) =>
      (await app.json('POST', `/api/v1/sessions/${sessionId}/clone`, { body: {}, ...more })).body.id;
    await app.chat({ message: 'Hi', sessionId: await clone(asBob), wait: true }, asBob);
    expect(JSON.stringify(app.calls.at(-1)?.request)).not.toContain(SESSION);
    await app.chat({ message: 'Hi', sessionId: await clone({}), wait: true });
    expect(JSON.stringify(app.calls.at(-1)?.request)).toContain(SESSION);
  });

  it('is set only by the owner', async () => {
    const { app, sessionId, asBob } = await createStage();
    const path = `/api/sessions/${sessionId}` as const;
    const put = { body: { name: 'Renamed', systemPromptText: 'Planted.' } };
    const refused = await app.json('PUT', path, { ...put, ...asBob });
    expect([refused.status, refused.body.error]).toEqual([
      403,
      'Only the owner may set the system prompt of a session',
    ]);
    expect((await app.json('GET', path)).body.name).toBe('Work');
    expect((await app.json('PUT', path, { body: { name: 'Renamed' }, ...asBob })).status).toBe(200);
    expect((await app.json('PUT', path, put)).status).toBe(200);
  });
});

/** The complete content of the store as text. */
async function dump(app: ChatApp): Promise<string> {
  const all = await Promise.all(
    COLLECTIONS.map((definition) => app.services.store.collection(definition as never).find({})),
  );
  return JSON.stringify(all);
}

describe('field systemPrompt', () => {
  it.each([
    ['under the encryption key', {}],
    ['without an encryption key', { secretEncryptionKey: undefined as never }],
  ])('is never stored in plain text while queued, running and ended, %s', async (_title, settings) => {
    const { app } = await createStage({ started: false, settings, onCall: () => undefined });
    const { body } = await app.chat(ASK, { headers: { 'Idempotency-Key': 'one' } });
    expect(await dump(app)).not.toContain(OWN);
    await app.api.start();
    await app.settle();
    const [call] = app.calls;
    expect(JSON.stringify(call?.request)).toContain(OWN);
    expect(await dump(app)).not.toContain(OWN);
    call?.say(...answerParts('Hello.'));
    call?.end();
    await app.settle();
    expect(await app.poll(body.id)).toMatchObject({
      status: 'done',
      promptText: expect.stringContaining(OWN),
    });
    expect(await dump(app)).not.toContain(OWN);
  });

  it('reaches the model through another worker with the same keys, and fails the turn with other keys', async () => {
    const { app } = await createStage({
      started: false,
      // A text box of another workspace cannot decrypt it.
      services: (services) => ({
        ...services,
        textBox: { ...services.textBox, open: () => undefined },
      }),
    });
    const { body } = await app.chat({ ...ASK, wait: false });
    await app.api.start();
    await app.settle();
    expect(await app.poll(body.id)).toMatchObject({
      type: 'error',
      reply: 'This turn could not be resumed. Please send it again.',
    });
    expect(app.calls).toEqual([]);
  });
});
