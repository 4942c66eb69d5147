import { QUESTS, SESSIONS } from '@questline/core/internal';
import { ProviderError } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { answerParts, type ChatApp, type ChatAppOptions, createChatApp } from '../support/chat.ts';
import type { ModelCall } from '../support/model.ts';

const FOUND = {
  name: 'Bees in May',
  summary: 'The user asks what bees need in May.',
  tags: [
    { name: 'Bees', strength: 0.9 },
    { name: 'bees', strength: 0.1 },
    { name: 'may', strength: 0.4 },
  ],
};
const TAGS = [
  { name: 'bees', strength: 0.9 },
  { name: 'may', strength: 0.4 },
];

const isEnrichment = ({ request }: ModelCall): boolean =>
  JSON.stringify(request.messages[0]).includes('You write titles, summaries');

function say(call: ModelCall, text: string): void {
  call.say(...answerParts(text));
  call.end();
}

const enriching =
  (said: unknown = FOUND): ((call: ModelCall) => void) =>
  (call) =>
    say(call, isEnrichment(call) ? (typeof said === 'string' ? said : JSON.stringify(said)) : 'Feed them.');

const createTestApp = (options: ChatAppOptions = {}) =>
  createChatApp({
    onCall: enriching(),
    ...options,
    settings: { enrichment: true, admin: { DefaultAPIModel: 'scripted' }, ...options.settings },
  });

/** Runs one turn and its follow-up jobs. @returns the session ID. */
async function turn(app: ChatApp, more: object = {}): Promise<string> {
  const { body } = await app.chat({ message: 'What do bees need in May?', wait: true, ...more });
  await app.settle();
  return body.sessionId;
}

const read = async (app: ChatApp, id: string) => (await app.json('GET', `/api/sessions/${id}`)).body;
const asked = ({ calls }: ChatApp): ModelCall[] => calls.filter(isEnrichment);

describe('session enrichment', () => {
  it('names, summarizes and tags a session after its first turn and is charged separately', async () => {
    const app = await createTestApp();
    const sessionId = await turn(app);
    expect(await read(app, sessionId)).toMatchObject({
      name: 'Bees in May',
      summary: FOUND.summary,
      tags: TAGS,
    });
    expect(JSON.stringify(asked(app)[0]?.request.messages)).toMatch(
      /user: What do bees need.*assistant: Feed them/,
    );
    const charges = await app.ledger.charges({ account: app.account }, 10);
    expect(charges.map(({ operation, status }) => `${operation} ${status}`).sort()).toEqual([
      'enrichSession settled',
      'sendChatMessage settled',
    ]);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
    expect(await app.services.store.collection(QUESTS).count({})).toBe(1);
    expect(await app.services.queue.counts()).toEqual({ ready: 0, delayed: 0, leased: 0 });
    expect(app.incidents).toEqual([]);
  });

  it('is off by default', async () => {
    const app = await createChatApp({ onCall: enriching() });
    const session = await read(app, await turn(app));
    expect(asked(app)).toEqual([]);
    expect(session).toMatchObject({ name: 'What do bees need in May?', tags: [] });
    expect(session).not.toHaveProperty('summary');
  });

  it('keeps names and tags that a user sets before or during it', async () => {
    const app = await createTestApp({
      onCall: (call) => {
        if (!isEnrichment(call)) say(call, 'Feed them.');
      },
    });
    const { body: own } = await app.json('POST', '/api/v1/sessions', {
      body: { name: 'Mine', tags: [{ name: 'own', strength: 1 }] },
    });
    await turn(app, { sessionId: own.id });
    const started = await turn(app);
    await app.json('PUT', `/api/sessions/${started}`, {
      body: { name: 'Renamed', tags: [{ name: 'chosen', strength: 1 }] },
    });
    for (const call of asked(app)) say(call, JSON.stringify(FOUND));
    await app.settle();
    expect(await read(app, own.id)).toMatchObject({
      name: 'Mine',
      summary: FOUND.summary,
      tags: [{ name: 'own', strength: 1 }],
    });
    expect(await read(app, started)).toMatchObject({
      name: 'Renamed',
      tags: [{ name: 'chosen', strength: 1 }],
    });
  });

  it.each([
    [
      'keeps the name that a user confirms',
      { name: 'What do bees need in May?' },
      'What do bees need in May?',
    ],
    ['names a session of which a user changes something else', { temperature: 1 }, 'Bees in May'],
    ['names a session of which a user sets the tags', { tags: TAGS }, 'Bees in May'],
  ])('%s', async (_, change, name) => {
    const app = await createTestApp({
      onCall: (call) => {
        if (!isEnrichment(call)) say(call, 'Feed them.');
      },
    });
    const sessionId = await turn(app);
    await app.json('PUT', `/api/sessions/${sessionId}`, { body: change });
    for (const call of asked(app)) say(call, JSON.stringify(FOUND));
    await app.settle();
    expect((await read(app, sessionId)).name).toBe(name);
  });

  it.each([
    ['keeps tags that a user has replaced since', { tags: [{ name: 'mine', strength: 1 }] }, 'mine'],
    ['replaces its own tags after a user changed something else', { name: 'Mine' }, 'honey'],
  ])('%s', async (_, change, tag) => {
    let found: object = FOUND;
    const app = await createTestApp({ onCall: (call) => enriching(found)(call) });
    const sessionId = await turn(app);
    await app.json('PUT', `/api/sessions/${sessionId}`, { body: change });
    found = { ...FOUND, tags: [{ name: 'honey', strength: 1 }] };
    for (let count = 0; count < 4; count += 1) await turn(app, { sessionId });
    expect(asked(app)).toHaveLength(2);
    expect((await read(app, sessionId)).tags).toEqual([{ name: tag, strength: 1 }]);
  });

  it('repeats as the session grows, keeps the generated name and updates its own tags', async () => {
    let found: object = FOUND;
    const app = await createTestApp({ onCall: (call) => enriching(found)(call) });
    const sessionId = await turn(app);
    found = { name: 'Other', summary: 'More.', tags: [{ name: 'honey', strength: 1 }] };
    for (let count = 0; count < 3; count += 1) await turn(app, { sessionId });
    expect(asked(app)).toHaveLength(1);
    await turn(app, { sessionId });
    expect(asked(app)).toHaveLength(2);
    expect(JSON.stringify(asked(app)[1]?.request.messages)).toContain(FOUND.summary);
    expect(await read(app, sessionId)).toMatchObject({
      name: 'Bees in May',
      summary: 'More.',
      tags: [{ name: 'honey', strength: 1 }],
    });
    expect((await read(app, sessionId)).lastUpdated).toBe((await read(app, sessionId)).firstCreated);
  });

  it('keeps its name that is that of the first message, and its tags if a later answer has none', async () => {
    const name = 'What do bees need in May?';
    let found: object = { ...FOUND, name };
    const app = await createTestApp({ onCall: (call) => enriching(found)(call) });
    const sessionId = await turn(app);
    found = { name: 'Other', summary: 'More.', tags: [] };
    for (let count = 0; count < 4; count += 1) await turn(app, { sessionId });
    expect(asked(app)).toHaveLength(2);
    expect(await read(app, sessionId)).toMatchObject({ name, summary: 'More.', tags: TAGS });
  });

  it('runs once at a time per session', async () => {
    const app = await createTestApp({
      onCall: (call) => {
        if (!isEnrichment(call)) say(call, 'Feed them.');
      },
    });
    const sessionId = await turn(app);
    await turn(app, { sessionId });
    await turn(app, { sessionId });
    expect(asked(app)).toHaveLength(1);
    await turn(app);
    expect(asked(app)).toHaveLength(2);
    for (const call of asked(app)) call.fail(new ProviderError('invalid_request', 'no'));
    await app.settle();
    await turn(app, { sessionId });
    expect(asked(app)).toHaveLength(3);
  });

  it.each([
    ['makes no sense', 'No.'],
    ['has another type', '{"name": 7, "summary": null, "tags": "bees"}'],
    ['is empty', '{}'],
  ])('stores nothing from an answer that %s', async (_name, said) => {
    const app = await createTestApp({ onCall: enriching(said) });
    const sessionId = await turn(app);
    expect(await read(app, sessionId)).toMatchObject({ name: 'What do bees need in May?', tags: [] });
    await turn(app, { sessionId });
    expect(asked(app)).toHaveLength(1);
  });

  it('limits its input to the context of the model', async () => {
    const found = {
      name: 'x'.repeat(400),
      summary: 'y'.repeat(4000),
      tags: Array.from({ length: 30 }, (_, n) => ({ name: `tag ${n}`, strength: 1 })),
    };
    const app = await createTestApp({ onCall: enriching(found) });
    const session = await read(app, await turn(app));
    expect([session.name.length, session.summary.length, session.tags.length]).toEqual([60, 1000, 8]);
  });

  it('does not affect the turn when it fails, and releases its hold', async () => {
    const app = await createTestApp({
      onCall: (call) => {
        if (isEnrichment(call)) throw new ProviderError('invalid_request', 'no');
        say(call, 'Feed them.');
      },
    });
    const { body } = await app.chat({ message: 'Hi', wait: true });
    await app.settle();
    expect(await app.poll(body.id)).toMatchObject({ status: 'done', type: 'message', reply: 'Feed them.' });
    expect((await app.ledger.balance(app.account)).held).toBe(0);
    // The next turn retries.
    await turn(app, { sessionId: body.sessionId });
    expect(asked(app)).toHaveLength(2);
  });

  it('is deleted with its session', async () => {
    const app = await createTestApp({
      onCall: (call) => {
        if (!isEnrichment(call)) say(call, 'Feed them.');
      },
    });
    const sessionId = await turn(app);
    await app.json('DELETE', `/api/sessions/${sessionId}`);
    await app.clock.advance(1000);
    await app.settle();
    expect(asked(app)[0]?.stopped).toBe(true);
    expect(await app.services.store.collection(SESSIONS).count({})).toBe(0);
    expect(await app.services.store.collection(QUESTS).count({})).toBe(0);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });
});
