import { createUser, type FilesReader, type ModelInfo, ORGANIZATIONS } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { sayAtOnce } from '../support/chat.ts';
import { createExecutionWorld, type ExecutionWorld } from '../support/execution.ts';
import { createScriptedProvider, SCRIPTED_MODEL } from '../support/model.ts';
import { addOrganization } from '../support/people.ts';

const UNKNOWN = '0'.repeat(24);
const THINKER: ModelInfo = { ...SCRIPTED_MODEL, id: 'thinker', supportsThinking: true };
const IMAGE: ModelInfo = { ...SCRIPTED_MODEL, id: 'painter', type: 'image' };

const withModels = (): Promise<ExecutionWorld> =>
  createExecutionWorld({
    model: createScriptedProvider(sayAtOnce('Hello.'), [SCRIPTED_MODEL, THINKER, IMAGE]),
    settings: { admin: { DefaultAPIModel: 'scripted' }, maxLiveExecutions: 100 },
  });

/** Starts a run, and answers what the model was asked. */
async function requestOf(world: ExecutionWorld, body: object) {
  const { status, body: answer } = await world.run(body);
  expect([status, answer.error]).toEqual([202, undefined]);
  await world.settle();
  const call = world.calls.at(-1);
  if (call === undefined) throw new Error('the model was not asked');
  return call.request;
}

async function expectRefused(world: ExecutionWorld, body: object, status: number, path: string) {
  const answer = await world.run(body);
  expect([body, answer.status, answer.body.error]).toEqual([body, status, expect.stringContaining(path)]);
}

/** Fields of one type: what is taken, and what is not. */
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
  it('is taken within its bounds', async () => {
    const world = await withModels();
    for (const value of good) {
      const { status } = await world.run({ [field]: value });
      expect([value, status]).toEqual([value, 202]);
      await world.settle();
    }
  });

  it('is refused beyond them, and named', async () => {
    const world = await withModels();
    for (const value of bad) await expectRefused(world, { [field]: value }, 422, field);
    expect(world.calls).toHaveLength(0);
  });
});

it('takes no other field', async () => {
  const world = await withModels();
  for (const field of ['sessionId', 'stream', 'maxTokens', 'other']) {
    await expectRefused(world, { [field]: 1 }, 422, field);
  }
});

describe('session_id', () => {
  it('of nobody, of somebody else, malformed or deleted is 404, alike', async () => {
    const world = await withModels();
    const other = await world.addUser('bob@example.com');
    const credential = await world.token(other);
    const create = async (who: object) =>
      (await world.json('POST', '/api/v1/sessions', { body: { name: 'x' }, ...who })).body.id;
    const foreign = await create({ credential });
    const deleted = await create({});
    await world.json('DELETE', `/api/sessions/${deleted}`);
    for (const id of [UNKNOWN, foreign, deleted, 'no id', 'A'.repeat(24)]) {
      const { status, body } = await world.run({ session_id: id });
      expect([status, body.error]).toEqual([404, 'Session not found']);
    }
  });
});

describe('model', () => {
  it('that is unknown or no chat model is 400, and so is no default', async () => {
    const world = await withModels();
    for (const model of ['nobody', 'painter', '']) await expectRefused(world, { model }, 400, 'Model info');
    const without = await createExecutionWorld({ settings: { admin: {} } });
    await expectRefused(without, {}, 400, 'there is no default model');
    expect((await without.run({ model: 'scripted' })).body.model).toBe('scripted');
  });
});

describe('what the model is given', () => {
  it('temperature and output cap, lowered to what the model gives', async () => {
    const world = await withModels();
    expect(await requestOf(world, { temperature: 0.7, max_tokens: 5 })).toMatchObject({
      temperature: 0.7,
      maxTokens: 5,
    });
    const usual = await requestOf(world, {});
    expect([usual.maxTokens, usual.temperature, usual.thinking]).toEqual([4096, undefined, undefined]);
    expect((await requestOf(world, { max_tokens: 10_001 })).maxTokens).toBe(10_000);
  });

  it('a thinking budget, where it can think; without a cap it comes on top', async () => {
    const world = await withModels();
    const thinking = { enabled: true, budget_tokens: 2000 };
    const request = await requestOf(world, { model: 'thinker', thinking });
    expect([request.thinking, request.maxTokens]).toEqual([{ budgetTokens: 2000 }, 6096]);
    const capped = await requestOf(world, { model: 'thinker', thinking, max_tokens: 3000 });
    expect([capped.thinking, capped.maxTokens]).toEqual([{ budgetTokens: 2000 }, 3000]);
    const usual = await requestOf(world, { model: 'thinker', thinking: { enabled: true } });
    expect(usual.thinking).toEqual({ budgetTokens: 4096 });
    const off = await requestOf(world, { model: 'thinker', thinking: { ...thinking, enabled: false } });
    expect(off.thinking).toBeUndefined();
    expect((await requestOf(world, { model: 'scripted', thinking })).thinking).toBeUndefined();
  });
});

describe('organization_id', () => {
  it('pays when the caller belongs to it, and is 404 otherwise', async () => {
    const world = await withModels();
    const owner = await world.addUser('o@example.com');
    const { id: organization } = await addOrganization(world, { ownerId: owner.id });
    for (const id of [organization, UNKNOWN, 'none', '']) {
      await expectRefused(world, { organization_id: id }, 404, 'Organization not found');
    }
    await world.services.store.collection(ORGANIZATIONS).update(organization, { readerIds: [world.user.id] });
    await world.ledger.grant({
      account: `organization:${organization}`,
      amount: 500_000_000,
      key: 'grant',
      reason: 'start',
    });
    await requestOf(world, { organization_id: organization });
    const { posted } = await world.ledger.balance(`organization:${organization}`);
    expect(posted).toBe(500_000_000 - 110_000);
    expect((await world.ledger.balance(world.account)).posted).toBe(1000_000_000);
  });
});

describe('files', () => {
  const CLEAN = '1'.repeat(24);
  const DIRTY = '2'.repeat(24);
  const files: FilesReader = {
    find: async (_user, id) =>
      [CLEAN, DIRTY].includes(id)
        ? { id, name: 'notes.txt', mimeType: 'text/plain', isClean: id === CLEAN }
        : undefined,
    content: async () => [{ type: 'text', text: 'What the file says.' }],
  };

  it.each(['file_ids', 'session_file_ids'])('%s: unknown 404, not clean 422', async (field) => {
    const world = await withModels();
    Object.assign(world.services, { files });
    for (const id of [UNKNOWN, 'none', '']) {
      await expectRefused(world, { [field]: [CLEAN, id] }, 404, 'File not found');
    }
    expect((await world.run({ [field]: [DIRTY] })).body.errorCode).toBe('unsupported_input');
  });
});

describe('agent_id', () => {
  it('of nobody is 404', async () => {
    const world = await withModels();
    for (const id of [UNKNOWN, 'none', '']) {
      await expectRefused(world, { agent_id: id }, 404, 'Agent not found');
    }
  });
});

describe('reading', () => {
  it("somebody else's run, a chat turn and a malformed id are unknown runs, to cancel too", async () => {
    const world = await withModels();
    const { id } = (await world.run()).body;
    await world.settle();
    const bob = await createUser(world.services, { email: 'bob@example.com', username: 'bob' });
    const stranger = await world.token(bob);
    const turn = (await world.chat({ message: 'Hi', sessionId: world.sessionId })).body.id;
    const path = '/api/v1/agent-executions';
    const answers = [
      await world.json('GET', `${path}/${id}`, { credential: stranger }),
      await world.json('POST', `${path}/${id}/cancel`, { credential: stranger }),
      await world.json('GET', `${path}/${turn}`),
      await world.json('POST', `${path}/${turn}/cancel`),
      await world.json('GET', `${path}/${UNKNOWN}`),
      await world.json('GET', `${path}/none`),
    ];
    expect(answers.map(({ status, body }) => [status, body.error])).toEqual(
      answers.map(() => [404, 'Agent execution not found']),
    );
    expect((await world.look(id)).status).toBe('completed');
  });
});
