import type { ModelInfo } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { type ChatApp, createChatApp, sayAtOnce } from '../support/chat.ts';
import { NO_SESSION } from '../support/expected.ts';
import { createScriptedProvider, SCRIPTED_MODEL } from '../support/model.ts';
import { addOrganization } from '../support/people.ts';

const UNKNOWN = '0'.repeat(24);

/** Sends a chat, waits for its end and returns the request to the model. */
async function toRequest(app: ChatApp, body: Record<string, unknown>) {
  const { status, body: answer } = await app.chat({ message: 'Hi', wait: true, ...body });
  expect([status, answer.error]).toEqual([200, undefined]);
  const call = app.calls.at(-1);
  if (call === undefined) throw new Error('the model was not called');
  return call.request;
}

/** Expects a rejection that names the field. */
async function expectRefused(app: ChatApp, body: unknown, status: number, path: string): Promise<void> {
  const answer = await app.chat(body);
  expect([answer.status, answer.body.error]).toEqual([status, expect.stringContaining(path)]);
  expect(app.calls).toHaveLength(0);
}

describe('field message', () => {
  it('is required and may be any text', async () => {
    const app = await createChatApp();
    await expectRefused(app, {}, 422, 'message');
    for (const message of [null, 7, ['Hi'], { text: 'Hi' }])
      await expectRefused(app, { message }, 422, 'message');
    for (const message of ['', ' ', 'ü€😀', 'x'.repeat(100_000)]) {
      const request = await toRequest(app, { message });
      expect(request.messages.at(-1)).toMatchObject({
        role: 'user',
        content: [{ type: 'text', text: message }],
      });
    }
  });
});

describe('field sessionId', () => {
  it('continues that session with its earlier messages', async () => {
    const app = await createChatApp();
    const first = await app.chat({ message: 'One', wait: true });
    const { sessionId } = first.body;
    const request = await toRequest(app, { message: 'Two', sessionId });
    expect(request.messages.slice(1).map(({ role, content }) => [role, content])).toEqual([
      ['user', [{ type: 'text', text: 'One' }]],
      ['assistant', [{ type: 'text', text: 'Hello.' }]],
      ['user', [{ type: 'text', text: 'Two' }]],
    ]);
  });

  it('is always in the answer', async () => {
    const app = await createChatApp();
    const { sessionId } = (await app.chat({ message: 'One' })).body;
    expect((await app.chat({ message: 'Two', sessionId })).body.sessionId).toBe(sessionId);
    const fresh = (await app.chat({ message: 'Two', sessionId: null })).body.sessionId;
    expect(fresh).not.toBe(sessionId);
  });

  it('gives the same 404 for an unknown, malformed or deleted session and that of another user', async () => {
    const app = await createChatApp();
    const other = await app.addUser('bob@example.com');
    const { body: foreign } = await app.chat(
      { message: 'Mine', newConversation: true },
      { credential: await app.token(other) },
    );
    const { body: own } = await app.chat({ message: 'Gone' });
    await app.json('DELETE', `/api/sessions/${own.sessionId}`);
    await app.settle();
    const answers = [];
    for (const sessionId of [UNKNOWN, foreign.sessionId, own.sessionId, 'no id', '']) {
      const { status, body } = await app.chat({ message: 'Hi', sessionId });
      answers.push([status, body.error]);
    }
    expect(answers).toEqual(Array(5).fill([404, 'Session not found']));
  });

  it('excludes newConversation', async () => {
    const app = await createChatApp();
    await expectRefused(
      app,
      { message: 'Hi', sessionId: UNKNOWN, newConversation: true },
      422,
      'newConversation',
    );
    expect((await app.chat({ message: 'Hi', sessionId: UNKNOWN, newConversation: false })).status).toBe(404);
    for (const sessionId of [7, true, []])
      expect((await app.chat({ message: 'Hi', sessionId })).status).toBe(422);
  });
});

describe('chat without sessionId', () => {
  it('starts a session for a key, named by the first 60 characters', async () => {
    const app = await createChatApp();
    const message = '😀'.repeat(61);
    const { sessionId } = (await app.chat({ message })).body;
    const { body } = await app.json('GET', `/api/sessions/${sessionId}`);
    expect(body).toMatchObject({ name: '😀'.repeat(60), userId: app.user.id, lastUsedModel: 'scripted' });
  });

  it('continues the latest session of a signed-in user', async () => {
    const app = await createChatApp();
    const credential = await app.token();
    const none = await app.chat({ message: 'Hi' }, { credential });
    expect([none.status, none.body.error]).toEqual([404, NO_SESSION]);
    const { sessionId: first } = (await app.chat({ message: '1', newConversation: true }, { credential }))
      .body;
    await app.clock.advance(1000);
    const { sessionId: second } = (await app.chat({ message: '2', newConversation: true }, { credential }))
      .body;
    expect(second).not.toBe(first);
    expect((await app.chat({ message: '3' }, { credential })).body.sessionId).toBe(second);
    await app.clock.advance(1000);
    await app.chat({ message: '4', sessionId: first }, { credential });
    expect((await app.chat({ message: '5' }, { credential })).body.sessionId).toBe(first);
  });
});

describe('field organizationId', () => {
  it('bills that organization, for its members only', async () => {
    const app = await createChatApp();
    const [owner, member] = [await app.addUser('o@example.com'), await app.addUser('m@example.com')];
    const { id: organizationId } = await addOrganization(app, {
      ownerId: owner.id,
      readerIds: [member.id],
    });
    const account = `organization:${organizationId}`;
    await app.ledger.grant({ account, amount: 1_000_000_000, key: 'start', reason: 'start' });
    const credential = await app.token(member);
    const body = { message: 'Hi', newConversation: true, wait: true, organizationId };
    expect((await app.chat(body, { credential })).body.type).toBe('message');
    expect((await app.ledger.balance(account)).posted).toBe(1_000_000_000 - 110_000);
    const answers = [];
    for (const id of [UNKNOWN, 'no id', ''])
      answers.push(await app.chat({ ...body, organizationId: id }, { credential }));
    answers.push(await app.chat(body));
    expect(answers.map((answer) => [answer.status, answer.body.error])).toEqual(
      Array(4).fill([404, 'Organization not found']),
    );
    expect((await app.chat({ ...body, organizationId: 7 })).status).toBe(422);
  });

  it('defaults to the organization of the key', async () => {
    const organizationId = 'b'.repeat(24);
    const app = await createChatApp({ key: { organizationId } });
    const account = `organization:${organizationId}`;
    await app.ledger.grant({ account, amount: 1_000_000_000, key: 'start', reason: 'start' });
    await app.chat({ message: 'Hi', wait: true });
    expect((await app.ledger.balance(account)).posted).toBe(1_000_000_000 - 110_000);
    expect((await app.ledger.balance(app.account)).posted).toBe(1_000_000_000);
  });
});

describe('field model', () => {
  const models: ModelInfo[] = [
    SCRIPTED_MODEL,
    { ...SCRIPTED_MODEL, id: 'painter', type: 'image', prices: { image: 1 } },
    { ...SCRIPTED_MODEL, id: 'off' },
    { ...SCRIPTED_MODEL, id: 'free' },
  ];
  const { prices: _, ...unpriced } = { ...SCRIPTED_MODEL, id: 'unpriced' };
  const setUp = (admin: Record<string, unknown> = {}) =>
    createChatApp({
      model: createScriptedProvider(sayAtOnce('Hello.'), [...models, unpriced]),
      settings: { admin, models: { off: { disabled: true } } },
    });

  it('selects the named model or the default setting', async () => {
    const app = await setUp({ DefaultAPIModel: 'free' });
    expect((await app.chat({ message: 'Hi' })).body.model).toBe('free');
    expect((await app.chat({ message: 'Hi', model: 'scripted' })).body.model).toBe('scripted');
  });

  it('is the cheapest that offers tools while there is no setting', async () => {
    const app = await createChatApp({
      model: createScriptedProvider(sayAtOnce('Hello.'), [
        { ...SCRIPTED_MODEL, id: 'dear' },
        { ...SCRIPTED_MODEL, id: 'no-tools', supportsTools: false, prices: { input: 1, output: 1 } },
        { ...SCRIPTED_MODEL, id: 'fair', prices: { input: 10, output: 40 } },
        unpriced,
      ]),
      settings: { admin: {} },
    });
    expect((await app.chat({ message: 'Hi' })).body.model).toBe('fair');
  });

  it('answers 400 for an unknown, disabled or non-chat model, or without a usable default', async () => {
    const app = await setUp();
    for (const model of ['unknown', 'off', 'painter', ''])
      await expectRefused(app, { message: 'Hi', model }, 400, `Model info not found for '${model}'`);
    const empty = await createChatApp({ models: [], settings: { admin: {} } });
    for (const model of [undefined, 'scripted'])
      await expectRefused(empty, { message: 'Hi', model }, 400, 'no model provider has a key');
    const broken = await setUp({ DefaultAPIModel: 'off' });
    await expectRefused(broken, { message: 'Hi' }, 400, 'the default model is not usable');
    for (const model of [7, null]) await expectRefused(app, { message: 'Hi', model }, 422, 'model');
  });

  it('rejects a model without a price while credits are metered', async () => {
    const app = await setUp();
    const { status, body } = await app.chat({ message: 'Hi', model: 'unpriced' });
    expect([status, body.errorCode]).toEqual([422, 'model_unavailable']);
    const unmetered = await setUp({ enforceCredits: false });
    const answer = await unmetered.chat({ message: 'Hi', model: 'unpriced', wait: true });
    expect([answer.status, answer.body.type]).toEqual([200, 'message']);
  });
});

describe('field temperature', () => {
  it('is 0 to 2', async () => {
    const app = await createChatApp();
    for (const temperature of [-0.001, 2.001, '1', null])
      await expectRefused(app, { message: 'Hi', temperature }, 422, 'temperature');
    for (const temperature of [0, 0.7, 2])
      expect((await toRequest(app, { temperature })).temperature).toBe(temperature);
    expect(await toRequest(app, {})).not.toHaveProperty('temperature');
  });
});

describe('output cap of chat', () => {
  it('is the first of three spellings, rounded down and limited by the model', async () => {
    const app = await createChatApp();
    for (const name of ['max_tokens', 'maxTokens', 'maxOutputTokens']) {
      for (const value of [0, -1, '10', null])
        await expectRefused(app, { message: 'Hi', [name]: value }, 422, name);
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
    for (const [body, cap] of caps) expect((await toRequest(app, body)).maxTokens).toBe(cap);
  });

  it('defaults to the smaller maximum of a model', async () => {
    const small = { ...SCRIPTED_MODEL, maxOutputTokens: 1000 };
    const app = await createChatApp({ model: createScriptedProvider(sayAtOnce('Hello.'), [small]) });
    expect((await toRequest(app, {})).maxTokens).toBe(1000);
  });
});

describe('field stream', () => {
  it('is a boolean without effect', async () => {
    const app = await createChatApp();
    for (const stream of ['true', 1, null])
      await expectRefused(app, { message: 'Hi', stream }, 422, 'stream');
    const { status, body, headers } = await app.chat({ message: 'Hi', stream: true });
    expect([status, body.status, headers.get('content-type')]).toEqual([
      200,
      'queued',
      'application/json; charset=utf-8',
    ]);
  });
});

describe('field historyCount', () => {
  it('limits the earlier messages sent to the model', async () => {
    const app = await createChatApp();
    for (const historyCount of [0, -1, '3', null])
      await expectRefused(app, { message: 'Hi', historyCount }, 422, 'historyCount');
    const { sessionId } = (await app.chat({ message: '0', wait: true })).body;
    for (let turn = 1; turn < 8; turn += 1) {
      await app.clock.advance(1);
      await app.chat({ message: String(turn), sessionId, wait: true });
    }
    await app.clock.advance(1);
    const given = async (more: object): Promise<string[]> => {
      const { messages } = await toRequest(app, { message: 'now', sessionId, ...more });
      await app.clock.advance(1);
      return messages.slice(1, -1).map(({ content }) => (content[0]?.type === 'text' ? content[0].text : ''));
    };
    expect(await given({ historyCount: 4 })).toEqual(['6', 'Hello.', '7', 'Hello.']);
    expect(await given({ historyCount: 0.1 })).toEqual(['Hello.']);
    expect(await given({ historyCount: 1.1 })).toEqual(['now', 'Hello.']);
    expect(await given({ historyCount: 3 })).toEqual(['Hello.', 'now', 'Hello.']);
    expect(await given({ historyCount: 1000 })).toHaveLength(24);
  });

  it('defaults to 10 to 19 and moves in blocks, so that turns start with the same messages', async () => {
    const app = await createChatApp();
    const { sessionId } = (await app.chat({ message: '0', wait: true })).body;
    const first: string[] = [];
    const counts: number[] = [];
    for (let turn = 1; turn < 22; turn += 1) {
      await app.clock.advance(1);
      const { messages } = await toRequest(app, { message: String(turn), sessionId });
      const history = messages.slice(1, -1);
      counts.push(history.length);
      const [part] = history[0]?.content ?? [];
      first.push(part?.type === 'text' ? part.text : '');
    }
    expect(counts).toEqual([2, 4, 6, 8, 10, 12, 14, 16, 18, 10, 12, 14, 16, 18, 10, 12, 14, 16, 18, 10, 12]);
    expect([...new Set(first)]).toEqual(['0', '5', '10', '15']);
  });

  it('never makes the conversation exceed the context of the model', async () => {
    const small = { ...SCRIPTED_MODEL, contextWindow: 1000, maxOutputTokens: 500 };
    const app = await createChatApp({
      model: createScriptedProvider(sayAtOnce('y'.repeat(300)), [small]),
    });
    const { sessionId } = (await app.chat({ message: 'x'.repeat(300), wait: true })).body;
    for (let turn = 1; turn < 4; turn += 1) {
      await app.clock.advance(1);
      await app.chat({ message: 'x'.repeat(300), sessionId, wait: true });
    }
    await app.clock.advance(1);
    const { messages } = await toRequest(app, { message: 'now', sessionId });
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
  });
});

describe('field fileIds', () => {
  it('is a list and answers 404 for an unknown file', async () => {
    const app = await createChatApp();
    for (const fileIds of ['x', [7], null])
      await expectRefused(app, { message: 'Hi', fileIds }, 422, 'fileIds');
    for (const id of [UNKNOWN, 'no id'])
      await expectRefused(app, { message: 'Hi', fileIds: [id] }, 404, 'File');
    expect((await app.chat({ message: 'Hi', fileIds: [] })).status).toBe(200);
  });
});

describe('chat options', () => {
  it('accept booleans', async () => {
    const app = await createChatApp();
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
        await expectRefused(app, { message: 'Hi', [name]: value }, 422, name);
    }
    for (const name of names) {
      for (const value of [true, false]) {
        expect([name, (await app.chat({ message: 'Hi', [name]: value })).status]).toEqual([name, 200]);
      }
    }
  });

  it('accept the listed values', async () => {
    const app = await createChatApp();
    for (const value of ['slow', '', null]) {
      await expectRefused(app, { message: 'Hi', toolMode: value }, 422, 'toolMode');
      await expectRefused(app, { message: 'Hi', promptMode: value }, 422, 'promptMode');
    }
    for (const toolMode of ['fast', 'smart'])
      expect((await app.chat({ message: 'Hi', toolMode })).body.tools.toolMode).toBe(toolMode);
    for (const promptMode of ['raw', 'grounded', 'surface'])
      expect((await app.chat({ message: 'Hi', promptMode })).status).toBe(200);
  });
});

describe('unknown chat fields', () => {
  it('are ignored', async () => {
    const app = await createChatApp();
    expect((await app.chat({ message: 'Hi', colour: 'blue' })).status).toBe(200);
  });
});
