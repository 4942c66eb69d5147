import { ProviderError, QUESTS, SESSIONS } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { answerParts, type ChatWorld, type ChatWorldOptions, createChatWorld } from '../support/chat.ts';
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
  JSON.stringify(request.messages[0]).includes('You keep a workspace tidy');

function say(call: ModelCall, text: string): void {
  call.say(...answerParts(text));
  call.end();
}

const enriching =
  (said: unknown = FOUND): ((call: ModelCall) => void) =>
  (call) =>
    say(call, isEnrichment(call) ? (typeof said === 'string' ? said : JSON.stringify(said)) : 'Feed them.');

const worldOf = (options: ChatWorldOptions = {}) =>
  createChatWorld({
    onCall: enriching(),
    ...options,
    settings: { enrichment: true, admin: { DefaultAPIModel: 'scripted' }, ...options.settings },
  });

/** One turn, and what follows from it. @returns the session's id. */
async function turn(world: ChatWorld, more: object = {}): Promise<string> {
  const { body } = await world.chat({ message: 'What do bees need in May?', wait: true, ...more });
  await world.settle();
  return body.sessionId;
}

const read = async (world: ChatWorld, id: string) => (await world.json('GET', `/api/sessions/${id}`)).body;
const asked = ({ calls }: ChatWorld): ModelCall[] => calls.filter(isEnrichment);

describe('enrichment', () => {
  it('names, sums up and tags a session after its first turn, paid for by itself', async () => {
    const world = await worldOf();
    const sessionId = await turn(world);
    expect(await read(world, sessionId)).toMatchObject({
      name: 'Bees in May',
      summary: FOUND.summary,
      tags: TAGS,
    });
    expect(JSON.stringify(asked(world)[0]?.request.messages)).toMatch(
      /user: What do bees need.*assistant: Feed them/,
    );
    const charges = await world.ledger.charges({ account: world.account }, 10);
    expect(charges.map(({ operation, status }) => `${operation} ${status}`).sort()).toEqual([
      'enrichSession settled',
      'sendChatMessage settled',
    ]);
    expect((await world.ledger.balance(world.account)).held).toBe(0);
    expect(await world.services.store.collection(QUESTS).count({})).toBe(1);
    expect(await world.services.queue.counts()).toEqual({ ready: 0, delayed: 0, leased: 0 });
    expect(world.incidents).toEqual([]);
  });

  it('is off unless somebody switches it on', async () => {
    const world = await createChatWorld({ onCall: enriching() });
    const session = await read(world, await turn(world));
    expect(asked(world)).toEqual([]);
    expect(session).toMatchObject({ name: 'What do bees need in May?', tags: [] });
    expect(session).not.toHaveProperty('summary');
  });

  it('leaves alone what somebody has chosen, before or meanwhile', async () => {
    const world = await worldOf({
      onCall: (call) => {
        if (!isEnrichment(call)) say(call, 'Feed them.');
      },
    });
    const { body: own } = await world.json('POST', '/api/v1/sessions', {
      body: { name: 'Mine', tags: [{ name: 'own', strength: 1 }] },
    });
    await turn(world, { sessionId: own.id });
    const started = await turn(world);
    await world.json('PUT', `/api/sessions/${started}`, {
      body: { name: 'Renamed', tags: [{ name: 'chosen', strength: 1 }] },
    });
    for (const call of asked(world)) say(call, JSON.stringify(FOUND));
    await world.settle();
    expect(await read(world, own.id)).toMatchObject({
      name: 'Mine',
      summary: FOUND.summary,
      tags: [{ name: 'own', strength: 1 }],
    });
    expect(await read(world, started)).toMatchObject({
      name: 'Renamed',
      tags: [{ name: 'chosen', strength: 1 }],
    });
  });

  it('comes again as the session grows, keeps the name it gave and renews its own tags', async () => {
    let found: object = FOUND;
    const world = await worldOf({ onCall: (call) => enriching(found)(call) });
    const sessionId = await turn(world);
    found = { name: 'Other', summary: 'More.', tags: [{ name: 'honey', strength: 1 }] };
    for (let count = 0; count < 3; count += 1) await turn(world, { sessionId });
    expect(asked(world)).toHaveLength(1);
    await turn(world, { sessionId });
    expect(asked(world)).toHaveLength(2);
    expect(JSON.stringify(asked(world)[1]?.request.messages)).toContain(FOUND.summary);
    expect(await read(world, sessionId)).toMatchObject({
      name: 'Bees in May',
      summary: 'More.',
      tags: [{ name: 'honey', strength: 1 }],
    });
    expect((await read(world, sessionId)).lastUpdated).toBe((await read(world, sessionId)).firstCreated);
  });

  it('is done once at a time in a session', async () => {
    const world = await worldOf({
      onCall: (call) => {
        if (!isEnrichment(call)) say(call, 'Feed them.');
      },
    });
    const sessionId = await turn(world);
    await turn(world, { sessionId });
    await turn(world, { sessionId });
    expect(asked(world)).toHaveLength(1);
    await turn(world);
    expect(asked(world)).toHaveLength(2);
    for (const call of asked(world)) call.fail(new ProviderError('invalid_request', 'no'));
    await world.settle();
    await turn(world, { sessionId });
    expect(asked(world)).toHaveLength(3);
  });

  it.each([
    ['makes no sense', 'No.'],
    ['is of another kind', '{"name": 7, "summary": null, "tags": "bees"}'],
    ['is empty', '{}'],
  ])('keeps nothing of an answer that %s', async (_name, said) => {
    const world = await worldOf({ onCall: enriching(said) });
    const sessionId = await turn(world);
    expect(await read(world, sessionId)).toMatchObject({ name: 'What do bees need in May?', tags: [] });
    await turn(world, { sessionId });
    expect(asked(world)).toHaveLength(1);
  });

  it('takes no more than fits', async () => {
    const found = {
      name: 'x'.repeat(400),
      summary: 'y'.repeat(4000),
      tags: Array.from({ length: 30 }, (_, n) => ({ name: `tag ${n}`, strength: 1 })),
    };
    const world = await worldOf({ onCall: enriching(found) });
    const session = await read(world, await turn(world));
    expect([session.name.length, session.summary.length, session.tags.length]).toEqual([60, 1000, 8]);
  });

  it("does the turn no harm when it fails, and holds nobody's credit", async () => {
    const world = await worldOf({
      onCall: (call) => {
        if (isEnrichment(call)) throw new ProviderError('invalid_request', 'no');
        say(call, 'Feed them.');
      },
    });
    const { body } = await world.chat({ message: 'Hi', wait: true });
    await world.settle();
    expect(await world.poll(body.id)).toMatchObject({ status: 'done', type: 'message', reply: 'Feed them.' });
    expect((await world.ledger.balance(world.account)).held).toBe(0);
    // The next turn tries again.
    await turn(world, { sessionId: body.sessionId });
    expect(asked(world)).toHaveLength(2);
  });

  it('goes with its session', async () => {
    const world = await worldOf({
      onCall: (call) => {
        if (!isEnrichment(call)) say(call, 'Feed them.');
      },
    });
    const sessionId = await turn(world);
    await world.json('DELETE', `/api/sessions/${sessionId}`);
    await world.settle();
    expect(asked(world)[0]?.stopped).toBe(true);
    expect(await world.services.store.collection(SESSIONS).count({})).toBe(0);
    expect(await world.services.store.collection(QUESTS).count({})).toBe(0);
    expect((await world.ledger.balance(world.account)).held).toBe(0);
  });
});
