import type { ModelInfo } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { type ChatWorld, createChatWorld, sayAtOnce } from '../support/chat.ts';
import { createScriptedProvider, SCRIPTED_MODEL } from '../support/model.ts';
import { addOrganization } from '../support/people.ts';

const UNKNOWN = '0'.repeat(24);

/** Asks, waits for the end, and answers what the model was asked. */
async function requestOf(world: ChatWorld, body: Record<string, unknown>) {
  const { status, body: answer } = await world.chat({ message: 'Hi', wait: true, ...body });
  expect([status, answer.error]).toEqual([200, undefined]);
  const call = world.calls.at(-1);
  if (call === undefined) throw new Error('the model was not asked');
  return call.request;
}

/** What of it is refused: everything else is taken. */
async function expectRefused(world: ChatWorld, body: unknown, status: number, path: string): Promise<void> {
  const answer = await world.chat(body);
  expect([answer.status, answer.body.error]).toEqual([status, expect.stringContaining(path)]);
  expect(world.calls).toHaveLength(0);
}

describe('message', () => {
  it('is required, and may be any text', async () => {
    const world = await createChatWorld();
    await expectRefused(world, {}, 422, 'message');
    for (const message of [null, 7, ['Hi'], { text: 'Hi' }])
      await expectRefused(world, { message }, 422, 'message');
    for (const message of ['', ' ', 'ü€😀', 'x'.repeat(100_000)]) {
      const request = await requestOf(world, { message });
      expect(request.messages.at(-1)).toEqual({ role: 'user', content: [{ type: 'text', text: message }] });
    }
  });
});

describe('sessionId', () => {
  it('continues that session, with what was said before', async () => {
    const world = await createChatWorld();
    const first = await world.chat({ message: 'One', wait: true });
    const { sessionId } = first.body;
    const request = await requestOf(world, { message: 'Two', sessionId });
    expect(request.messages.slice(1).map(({ role, content }) => [role, content])).toEqual([
      ['user', [{ type: 'text', text: 'One' }]],
      ['assistant', [{ type: 'text', text: 'Hello.' }]],
      ['user', [{ type: 'text', text: 'Two' }]],
    ]);
  });

  it('is answered always', async () => {
    const world = await createChatWorld();
    const { sessionId } = (await world.chat({ message: 'One' })).body;
    expect((await world.chat({ message: 'Two', sessionId })).body.sessionId).toBe(sessionId);
    const fresh = (await world.chat({ message: 'Two', sessionId: null })).body.sessionId;
    expect(fresh).not.toBe(sessionId);
  });

  it('of nobody, of somebody else, malformed or deleted is 404, alike', async () => {
    const world = await createChatWorld();
    const other = await world.addUser('bob@example.com');
    const { body: foreign } = await world.chat(
      { message: 'Mine', newConversation: true },
      { credential: await world.token(other) },
    );
    const { body: own } = await world.chat({ message: 'Gone' });
    await world.json('DELETE', `/api/sessions/${own.sessionId}`);
    await world.settle();
    const answers = [];
    for (const sessionId of [UNKNOWN, foreign.sessionId, own.sessionId, 'no id', '']) {
      const { status, body } = await world.chat({ message: 'Hi', sessionId });
      answers.push([status, body.error]);
    }
    expect(answers).toEqual(Array(5).fill([404, 'Session not found']));
  });

  it('does not go together with newConversation', async () => {
    const world = await createChatWorld();
    await expectRefused(
      world,
      { message: 'Hi', sessionId: UNKNOWN, newConversation: true },
      422,
      'newConversation',
    );
    expect((await world.chat({ message: 'Hi', sessionId: UNKNOWN, newConversation: false })).status).toBe(
      404,
    );
    for (const sessionId of [7, true, []])
      expect((await world.chat({ message: 'Hi', sessionId })).status).toBe(422);
  });
});

describe('without sessionId', () => {
  it('a key starts a session, called by the first 60 characters', async () => {
    const world = await createChatWorld();
    const message = '😀'.repeat(61);
    const { sessionId } = (await world.chat({ message })).body;
    const { body } = await world.json('GET', `/api/sessions/${sessionId}`);
    expect(body).toMatchObject({ name: '😀'.repeat(60), userId: world.user.id, lastUsedModel: 'scripted' });
  });

  it('a signed-in user continues the latest session, if there is one', async () => {
    const world = await createChatWorld();
    const credential = await world.token();
    const none = await world.chat({ message: 'Hi' }, { credential });
    expect([none.status, none.body.error]).toEqual([404, 'Session not found']);
    const { sessionId: first } = (await world.chat({ message: '1', newConversation: true }, { credential }))
      .body;
    await world.clock.advance(1000);
    const { sessionId: second } = (await world.chat({ message: '2', newConversation: true }, { credential }))
      .body;
    expect(second).not.toBe(first);
    expect((await world.chat({ message: '3' }, { credential })).body.sessionId).toBe(second);
    await world.clock.advance(1000);
    await world.chat({ message: '4', sessionId: first }, { credential });
    expect((await world.chat({ message: '5' }, { credential })).body.sessionId).toBe(first);
  });
});

describe('organizationId', () => {
  it('bills that organization, to its members only', async () => {
    const world = await createChatWorld();
    const [owner, member] = [await world.addUser('o@example.com'), await world.addUser('m@example.com')];
    const { id: organizationId } = await addOrganization(world, {
      ownerId: owner.id,
      readerIds: [member.id],
    });
    const account = `organization:${organizationId}`;
    await world.ledger.grant({ account, amount: 1_000_000_000, key: 'start', reason: 'start' });
    const credential = await world.token(member);
    const body = { message: 'Hi', newConversation: true, wait: true, organizationId };
    expect((await world.chat(body, { credential })).body.type).toBe('message');
    expect((await world.ledger.balance(account)).posted).toBe(1_000_000_000 - 110_000);
    const answers = [];
    for (const id of [UNKNOWN, 'no id', ''])
      answers.push(await world.chat({ ...body, organizationId: id }, { credential }));
    answers.push(await world.chat(body));
    expect(answers.map((answer) => [answer.status, answer.body.error])).toEqual(
      Array(4).fill([404, 'Organization not found']),
    );
    expect((await world.chat({ ...body, organizationId: 7 })).status).toBe(422);
  });

  it('is that of the key by default', async () => {
    const organizationId = 'b'.repeat(24);
    const world = await createChatWorld({ key: { organizationId } });
    const account = `organization:${organizationId}`;
    await world.ledger.grant({ account, amount: 1_000_000_000, key: 'start', reason: 'start' });
    await world.chat({ message: 'Hi', wait: true });
    expect((await world.ledger.balance(account)).posted).toBe(1_000_000_000 - 110_000);
    expect((await world.ledger.balance(world.account)).posted).toBe(1_000_000_000);
  });
});

describe('model', () => {
  const models: ModelInfo[] = [
    SCRIPTED_MODEL,
    { ...SCRIPTED_MODEL, id: 'painter', type: 'image', prices: { image: 1 } },
    { ...SCRIPTED_MODEL, id: 'off' },
    { ...SCRIPTED_MODEL, id: 'free' },
  ];
  const { prices: _, ...unpriced } = { ...SCRIPTED_MODEL, id: 'unpriced' };
  const setUp = (admin: Record<string, unknown> = {}) =>
    createChatWorld({
      model: createScriptedProvider(sayAtOnce('Hello.'), [...models, unpriced]),
      settings: { admin, models: { off: { disabled: true } } },
    });

  it('is the default setting, or the named one', async () => {
    const world = await setUp({ DefaultAPIModel: 'free' });
    expect((await world.chat({ message: 'Hi' })).body.model).toBe('free');
    expect((await world.chat({ message: 'Hi', model: 'scripted' })).body.model).toBe('scripted');
  });

  it('unknown, disabled or no chat model is 400, and so is no usable default', async () => {
    const world = await setUp();
    for (const model of ['nobody', 'off', 'painter', ''])
      await expectRefused(world, { message: 'Hi', model }, 400, `Model info not found for '${model}'`);
    await expectRefused(world, { message: 'Hi' }, 400, 'there is no default model');
    const broken = await setUp({ DefaultAPIModel: 'painter' });
    await expectRefused(broken, { message: 'Hi' }, 400, 'the default model cannot be used');
    for (const model of [7, null]) await expectRefused(world, { message: 'Hi', model }, 422, 'model');
  });

  it('without a price cannot be used while credits are metered', async () => {
    const world = await setUp();
    const { status, body } = await world.chat({ message: 'Hi', model: 'unpriced' });
    expect([status, body.errorCode]).toEqual([422, 'model_unavailable']);
    const unmetered = await setUp({ enforceCredits: false });
    const answer = await unmetered.chat({ message: 'Hi', model: 'unpriced', wait: true });
    expect([answer.status, answer.body.type]).toEqual([200, 'message']);
  });
});

describe('temperature', () => {
  it('is 0 to 2', async () => {
    const world = await createChatWorld();
    for (const temperature of [-0.001, 2.001, '1', null])
      await expectRefused(world, { message: 'Hi', temperature }, 422, 'temperature');
    for (const temperature of [0, 0.7, 2])
      expect((await requestOf(world, { temperature })).temperature).toBe(temperature);
    expect(await requestOf(world, {})).not.toHaveProperty('temperature');
  });
});

describe('the output cap', () => {
  it('is the first of three spellings, rounded down, at most what the model gives', async () => {
    const world = await createChatWorld();
    for (const name of ['max_tokens', 'maxTokens', 'maxOutputTokens']) {
      for (const value of [0, -1, '10', null])
        await expectRefused(world, { message: 'Hi', [name]: value }, 422, name);
    }
    const caps = [
      [{}, 4096],
      [{ max_tokens: 100 }, 100],
      [{ maxTokens: 100.9 }, 100],
      [{ maxOutputTokens: 0.5 }, 1],
      [{ maxTokens: 99_999 }, 10_000],
      [{ max_tokens: 1, maxTokens: 2, maxOutputTokens: 3 }, 1],
      [{ maxTokens: 2, maxOutputTokens: 3 }, 2],
    ] as const;
    for (const [body, cap] of caps) expect((await requestOf(world, body)).maxTokens).toBe(cap);
  });

  it('is by default what a smaller model gives', async () => {
    const small = { ...SCRIPTED_MODEL, maxOutputTokens: 1000 };
    const world = await createChatWorld({ model: createScriptedProvider(sayAtOnce('Hello.'), [small]) });
    expect((await requestOf(world, {})).maxTokens).toBe(1000);
  });
});

describe('stream', () => {
  it('is a boolean that changes nothing', async () => {
    const world = await createChatWorld();
    for (const stream of ['true', 1, null])
      await expectRefused(world, { message: 'Hi', stream }, 422, 'stream');
    const { status, body, headers } = await world.chat({ message: 'Hi', stream: true });
    expect([status, body.status, headers.get('content-type')]).toEqual([
      200,
      'queued',
      'application/json; charset=utf-8',
    ]);
  });
});

describe('historyCount', () => {
  it('is how many earlier messages the model is given', async () => {
    const world = await createChatWorld();
    for (const historyCount of [0, -1, '3', null])
      await expectRefused(world, { message: 'Hi', historyCount }, 422, 'historyCount');
    const { sessionId } = (await world.chat({ message: '0', wait: true })).body;
    for (let turn = 1; turn < 8; turn += 1) {
      await world.clock.advance(1);
      await world.chat({ message: String(turn), sessionId, wait: true });
    }
    await world.clock.advance(1);
    const given = async (more: object): Promise<string[]> => {
      const { messages } = await requestOf(world, { message: 'now', sessionId, ...more });
      await world.clock.advance(1);
      return messages.slice(1, -1).map(({ content }) => (content[0]?.type === 'text' ? content[0].text : ''));
    };
    expect(await given({})).toEqual([
      '3',
      'Hello.',
      '4',
      'Hello.',
      '5',
      'Hello.',
      '6',
      'Hello.',
      '7',
      'Hello.',
    ]);
    // A conversation begins with a user's word: a lone answer at its head is left out.
    expect(await given({ historyCount: 0.1 })).toEqual([]);
    expect(await given({ historyCount: 1.1 })).toEqual(['now', 'Hello.']);
    expect(await given({ historyCount: 1000 })).toHaveLength(22);
  });

  it('never makes the conversation longer than the model can hold', async () => {
    const small = { ...SCRIPTED_MODEL, contextWindow: 1000, maxOutputTokens: 500 };
    const world = await createChatWorld({
      model: createScriptedProvider(sayAtOnce('y'.repeat(300)), [small]),
    });
    const { sessionId } = (await world.chat({ message: 'x'.repeat(300), wait: true })).body;
    for (let turn = 1; turn < 4; turn += 1) {
      await world.clock.advance(1);
      await world.chat({ message: 'x'.repeat(300), sessionId, wait: true });
    }
    await world.clock.advance(1);
    const { messages } = await requestOf(world, { message: 'now', sessionId });
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
  });
});

describe('fileIds', () => {
  it('are a list; a file nobody knows is 404', async () => {
    const world = await createChatWorld();
    for (const fileIds of ['x', [7], null])
      await expectRefused(world, { message: 'Hi', fileIds }, 422, 'fileIds');
    for (const id of [UNKNOWN, 'no id'])
      await expectRefused(world, { message: 'Hi', fileIds: [id] }, 404, 'File');
    expect((await world.chat({ message: 'Hi', fileIds: [] })).status).toBe(200);
  });
});

describe('switches', () => {
  it('are booleans', async () => {
    const world = await createChatWorld();
    const names = [
      'newConversation',
      'wait',
      'enableTools',
      'enableQuestMaster',
      'enableMementos',
      'enableAgents',
      'skip_auto_offers',
      'includePromptDetails',
      'includeSystemPrompt',
    ];
    for (const name of names) {
      for (const value of ['true', 0, null])
        await expectRefused(world, { message: 'Hi', [name]: value }, 422, name);
    }
    for (const name of names) {
      for (const value of [true, false]) {
        expect([name, (await world.chat({ message: 'Hi', [name]: value })).status]).toEqual([name, 200]);
      }
    }
  });

  it('have listed values', async () => {
    const world = await createChatWorld();
    for (const value of ['slow', '', null]) {
      await expectRefused(world, { message: 'Hi', toolMode: value }, 422, 'toolMode');
      await expectRefused(world, { message: 'Hi', promptMode: value }, 422, 'promptMode');
    }
    for (const toolMode of ['fast', 'smart'])
      expect((await world.chat({ message: 'Hi', toolMode })).body.tools.toolMode).toBe(toolMode);
    for (const promptMode of ['raw', 'grounded', 'surface'])
      expect((await world.chat({ message: 'Hi', promptMode })).status).toBe(200);
  });
});

describe('other fields', () => {
  it('are ignored', async () => {
    const world = await createChatWorld();
    expect((await world.chat({ message: 'Hi', colour: 'blue' })).status).toBe(200);
  });
});
