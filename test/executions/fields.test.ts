import { createUser } from '@questline/core';
import { ORGANIZATIONS } from '@questline/core/internal';
import type { ModelInfo } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { sayAtOnce } from '../support/chat.ts';
import { createExecutionApp, type ExecutionApp } from '../support/execution.ts';
import { createTestFilesReader } from '../support/files-reader.ts';
import { createScriptedProvider, SCRIPTED_MODEL } from '../support/model.ts';
import { addOrganization } from '../support/people.ts';

const UNKNOWN = '0'.repeat(24);
const THINKER: ModelInfo = { ...SCRIPTED_MODEL, id: 'thinker', supportsThinking: true };
const IMAGE: ModelInfo = { ...SCRIPTED_MODEL, id: 'painter', type: 'image' };

const withModels = (): Promise<ExecutionApp> =>
  createExecutionApp({
    model: createScriptedProvider(sayAtOnce('Hello.'), [SCRIPTED_MODEL, THINKER, IMAGE]),
    settings: { admin: { DefaultAPIModel: 'scripted' }, maxLiveExecutions: 100 },
  });

/** Starts a run and returns the request to the model. */
async function toRequest(app: ExecutionApp, body: object) {
  const { status, body: answer } = await app.run(body);
  expect([status, answer.error]).toEqual([202, undefined]);
  await app.settle();
  const call = app.calls.at(-1);
  if (call === undefined) throw new Error('the model was not called');
  return call.request;
}

async function expectRefused(app: ExecutionApp, body: object, status: number, path: string) {
  const answer = await app.run(body);
  expect([body, answer.status, answer.body.error]).toEqual([body, status, expect.stringContaining(path)]);
}

/** Accepted and rejected values of each field. */
const FIELDS: Readonly<Record<string, { good: readonly unknown[]; bad: readonly unknown[] }>> = {
  message: { good: ['x', ' ', 'ü€😀', 'x'.repeat(100_000)], bad: ['', null, 7, ['x'], undefined] },
  max_iterations: { good: [1, 2, 100], bad: [0, 101, -1, 1.5, '5', null] },
  temperature: { good: [0, 0.5, 2], bad: [-0.1, 2.1, '1', null] },
  max_tokens: { good: [1, 4096, 1_000_000], bad: [0, -1, 1.5, '1', null] },
  thinking: {
    good: [
      { enabled: true },
      { enabled: false },
      { enabled: true, budget_tokens: 1 },
      { enabled: true, budget_tokens: 32_000 },
    ],
    bad: [
      {},
      true,
      null,
      { enabled: 1 },
      { budget_tokens: 5 },
      { enabled: true, budget_tokens: 0 },
      { enabled: true, budget_tokens: 32_001 },
      { enabled: true, budget_tokens: 1.5 },
      { enabled: true, budget: 1 },
    ],
  },
  tools: { good: [[], ['x'], ['x', 'x'], ['']], bad: ['x', [1], null, {}] },
  file_ids: { good: [[]], bad: ['x', [1], null] },
  session_file_ids: { good: [[]], bad: ['x', [1], null] },
  enable_mementos: { good: [true, false], bad: [1, 'true', null] },
  enable_lattice: { good: [true, false], bad: [1, 'true', null] },
  enable_artifacts: { good: [true, false], bad: [1, 'true', null] },
  model: { good: ['scripted', 'thinker'], bad: [7, null, []] },
  agent_id: { good: [], bad: [7, null] },
  organization_id: { good: [], bad: [7, null] },
  session_id: { good: [], bad: ['', 7, null, undefined] },
};

describe.each(Object.entries(FIELDS))('%s', (field, { good, bad }) => {
  it('is accepted within its bounds', async () => {
    const app = await withModels();
    for (const value of good) {
      const { status } = await app.run({ [field]: value });
      expect([value, status]).toEqual([value, 202]);
      await app.settle();
    }
  });

  it('is rejected beyond its bounds with its name', async () => {
    const app = await withModels();
    for (const value of bad) await expectRefused(app, { [field]: value }, 422, field);
    expect(app.calls).toHaveLength(0);
  });
});

it('accepts no unknown field', async () => {
  const app = await withModels();
  for (const field of ['sessionId', 'stream', 'maxTokens', 'other']) {
    await expectRefused(app, { [field]: 1 }, 422, field);
  }
});

describe('field session_id of a run', () => {
  it('gives the same 404 for an unknown, malformed or deleted session and that of another user', async () => {
    const app = await withModels();
    const other = await app.addUser('bob@example.com');
    const credential = await app.token(other);
    const create = async (who: object) =>
      (await app.json('POST', '/api/v1/sessions', { body: { name: 'x' }, ...who })).body.id;
    const foreign = await create({ credential });
    const deleted = await create({});
    await app.json('DELETE', `/api/sessions/${deleted}`);
    for (const id of [UNKNOWN, foreign, deleted, 'no id', 'A'.repeat(24)]) {
      const { status, body } = await app.run({ session_id: id });
      expect([status, body.error]).toEqual([404, 'Session not found']);
    }
  });
});

describe('field model of a run', () => {
  it('answers 400 for an unknown or non-chat model, and is the cheapest one without a setting', async () => {
    const app = await withModels();
    for (const model of ['unknown', 'painter', '']) await expectRefused(app, { model }, 400, 'Model info');
    const without = await createExecutionApp({ settings: { admin: {} } });
    expect((await without.run({})).body.model).toBe('scripted');
  });
});

describe('model input of a run', () => {
  it('contains temperature and output cap, limited by the model', async () => {
    const app = await withModels();
    expect(await toRequest(app, { temperature: 0.7, max_tokens: 5 })).toMatchObject({
      temperature: 0.7,
      maxTokens: 5,
    });
    const usual = await toRequest(app, {});
    expect([usual.maxTokens, usual.temperature, usual.thinking]).toEqual([4096, undefined, undefined]);
    expect((await toRequest(app, { max_tokens: 10_001 })).maxTokens).toBe(10_000);
  });

  it('contains a thinking budget where supported, and leaves room for both without a cap', async () => {
    const app = await withModels();
    const thinking = { enabled: true, budget_tokens: 2000 };
    const request = await toRequest(app, { model: 'thinker', thinking });
    expect([request.thinking, request.maxTokens]).toEqual([{ budgetTokens: 2000 }, 10_000]);
    const capped = await toRequest(app, { model: 'thinker', thinking, max_tokens: 3000 });
    expect([capped.thinking, capped.maxTokens]).toEqual([{ budgetTokens: 2000 }, 3000]);
    const usual = await toRequest(app, { model: 'thinker', thinking: { enabled: true } });
    expect(usual.thinking).toEqual({ budgetTokens: 4096 });
    const off = await toRequest(app, { model: 'thinker', thinking: { ...thinking, enabled: false } });
    expect(off.thinking).toBeUndefined();
    expect((await toRequest(app, { model: 'scripted', thinking })).thinking).toBeUndefined();
  });
});

describe('field organization_id of a run', () => {
  it('charges the organization of a member and answers 404 otherwise', async () => {
    const app = await withModels();
    const owner = await app.addUser('o@example.com');
    const { id: organization } = await addOrganization(app, { ownerId: owner.id });
    for (const id of [organization, UNKNOWN, 'none', '']) {
      await expectRefused(app, { organization_id: id }, 404, 'Organization not found');
    }
    await app.services.store.collection(ORGANIZATIONS).update(organization, { readerIds: [app.user.id] });
    await app.ledger.grant({
      account: `organization:${organization}`,
      amount: 500_000_000,
      key: 'grant',
      reason: 'start',
    });
    await toRequest(app, { organization_id: organization });
    const { posted } = await app.ledger.balance(`organization:${organization}`);
    expect(posted).toBe(500_000_000 - 110_000);
    expect((await app.ledger.balance(app.account)).posted).toBe(1000_000_000);
  });
});

describe('files of a run', () => {
  const CLEAN = '1'.repeat(24);
  const DIRTY = '2'.repeat(24);
  const files = createTestFilesReader({
    find: (id) =>
      [CLEAN, DIRTY].includes(id)
        ? { id, name: 'notes.txt', mimeType: 'text/plain', isClean: id === CLEAN }
        : undefined,
    content: () => [{ type: 'text', text: 'What the file says.' }],
  });

  it.each(['file_ids', 'session_file_ids'])(
    'answers 404 for an unknown and 422 for an unclean file: %s',
    async (field) => {
      const app = await withModels();
      Object.assign(app.services, { files });
      for (const id of [UNKNOWN, 'none', '']) {
        await expectRefused(app, { [field]: [CLEAN, id] }, 404, 'File not found');
      }
      expect((await app.run({ [field]: [DIRTY] })).body.errorCode).toBe('unsupported_input');
    },
  );
});

describe('field agent_id of a run', () => {
  it('answers 404 for an unknown agent', async () => {
    const app = await withModels();
    for (const id of [UNKNOWN, 'none', '']) {
      await expectRefused(app, { agent_id: id }, 404, 'Agent not found');
    }
  });
});

describe('reading a run', () => {
  it('answers 404 for runs of others, chat turns and malformed ids, also for cancellation', async () => {
    const app = await withModels();
    const { id } = (await app.run()).body;
    await app.settle();
    const bob = await createUser(app.services, { email: 'bob@example.com', username: 'bob' });
    const stranger = await app.token(bob);
    const turn = (await app.chat({ message: 'Hi', sessionId: app.sessionId })).body.id;
    const path = '/api/v1/agent-executions';
    const answers = [
      await app.json('GET', `${path}/${id}`, { credential: stranger }),
      await app.json('POST', `${path}/${id}/cancel`, { credential: stranger }),
      await app.json('GET', `${path}/${turn}`),
      await app.json('POST', `${path}/${turn}/cancel`),
      await app.json('GET', `${path}/${UNKNOWN}`),
      await app.json('GET', `${path}/none`),
    ];
    expect(answers.map(({ status, body }) => [status, body.error])).toEqual(
      answers.map(() => [404, 'Agent execution not found']),
    );
    expect((await app.look(id)).status).toBe('completed');
  });
});
