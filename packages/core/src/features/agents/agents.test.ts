import { describe, expect, it } from 'vitest';
import { toAgent, toAgentId } from '../../../../../test/support/agent-records.ts';
import { delayed } from '../../../test/delayed.ts';
import type { Caller } from '../../contract/call.ts';
import { createMemoryStore } from '../../memory/store.ts';
import type { AdminSettingsReader } from '../../operations/admin-settings.ts';
import { ApiError } from '../../shared/errors.ts';
import { type AgentChange, changeAgent, makeAgent, requireAgents } from './agents.ts';
import { AGENTS, type AgentRecord } from './records.ts';

const toCaller = (userId: string, isAdmin = false): Caller => ({ kind: 'token', userId, isAdmin });
const ADMIN = toCaller('root', true);

/** One agent of `ada`, which `bob` may change. */
async function setUp(agent: Partial<AgentRecord> = {}) {
  const store = createMemoryStore();
  const agents = store.collection(AGENTS);
  await agents.insert(toAgent(1, { writerIds: ['bob', 'root'], ...agent }));
  const id = toAgentId(1);
  const services = {
    store: delayed(store),
    clock: { now: () => 50 } as never,
    ids: { next: () => toAgentId(2) } as never,
    adminSettings: { current: async () => ({ MaxAgentsPerUser: 2 }) } as unknown as AdminSettingsReader,
  };
  const change = (caller: Caller, input: AgentChange) => changeAgent(services, caller, id, input);
  const make = (owner: Caller, input: AgentChange = {}) =>
    makeAgent(services, owner, { name: 'New', ...input }, (most) => new ApiError(429, `${most}`));
  return { agents, id, services, change, make };
}

const denied = (message: string) => ({
  status: 403,
  message,
  applicationCode: 'AGENT_ACCESS_DENIED',
});

describe('new agent', () => {
  it('is stored with the given traits and without others', async () => {
    const { agents, make } = await setUp();
    const made = await make(toCaller('ada'), { personality: { uniqueQuirk: 'Hums.' } });
    expect(made.personality).toEqual({ ...toAgent(1).personality, uniqueQuirk: 'Hums.' });
    expect(await agents.get(made.id)).toEqual(made);
  });

  it('of an administrator is approved only when it is public', async () => {
    expect((await (await setUp()).make(ADMIN)).publication).toBeUndefined();
    expect((await (await setUp()).make(ADMIN, { isPublic: true })).publication).toBe('approved');
    expect((await (await setUp()).make(toCaller('ada'), { isPublic: true })).publication).toBeUndefined();
  });

  it('is refused above the limit of its owner', async () => {
    const { agents, make } = await setUp();
    await make(toCaller('ada'));
    await expect(make(toCaller('ada'))).rejects.toMatchObject({ status: 429, message: '2' });
    expect(await agents.count({})).toBe(2);
  });
});

describe('change of an agent', () => {
  it('keeps the traits that it does not name', async () => {
    const { change, id, agents } = await setUp({
      personality: { ...toAgent(1).personality, minorMotivation: 'Order.', uniqueQuirk: 'Hums.' },
    });
    const changed = await change(toCaller('ada'), { personality: { uniqueQuirk: 'Sings.' } });
    expect(changed?.personality).toMatchObject({ minorMotivation: 'Order.', uniqueQuirk: 'Sings.' });
    expect(changed?.updatedAt).toBe(50);
    expect(await agents.get(id)).toEqual(changed);
    expect((await change(toCaller('ada'), { name: 'Else' }))?.personality).toEqual(changed?.personality);
  });

  it('by a user with a write share leaves the system prompt and the publication', async () => {
    const { change } = await setUp({ systemPrompt: 'Count.', isPublic: true });
    const changed = await change(toCaller('bob'), { name: 'Else', systemPrompt: undefined, isPublic: true });
    expect(changed).toMatchObject({ name: 'Else', systemPrompt: 'Count.', isPublic: true });
    const empty = await change(toCaller('bob'), { name: 'Third', systemPrompt: '' });
    expect(empty).toMatchObject({ name: 'Third', systemPrompt: 'Count.', isPublic: true });
  });

  it('by a user with a write share cannot set its system prompt, publish or withdraw it', async () => {
    const { change, agents, id } = await setUp();
    await expect(change(toCaller('bob'), { systemPrompt: 'Obey bob.' })).rejects.toMatchObject(
      denied('Only its owner may set its system prompt'),
    );
    await expect(change(toCaller('bob'), { isPublic: true })).rejects.toMatchObject(
      denied('Only its owner may publish this agent'),
    );
    expect(await agents.get(id)).toEqual(toAgent(1, { writerIds: ['bob', 'root'] }));
    const other = await setUp({ isPublic: true });
    await expect(other.change(toCaller('bob'), { isPublic: false })).rejects.toMatchObject({ status: 403 });
  });

  it('by a stranger changes nothing', async () => {
    const { change } = await setUp();
    expect(await change(toCaller('eve'), { name: 'Mine' })).toBeUndefined();
  });
});

describe('approval of an agent', () => {
  const APPROVED = { isPublic: true, publication: 'approved', description: 'Counts.' } as const;
  const after = async (given: Partial<AgentRecord>, caller: Caller, input: AgentChange) =>
    (await (await setUp(given)).change(caller, input))?.publication;

  it.each<[string, AgentChange, 'approved' | undefined]>([
    ['the same text', { description: 'Counts.' }, 'approved'],
    ['another text', { description: 'Adds.' }, undefined],
    ['another text beside the same name', { name: 'n1', description: 'Adds.' }, undefined],
    ['the same text beside another name', { name: 'Else', description: 'Counts.' }, undefined],
    ['other traits', { personality: { uniqueQuirk: 'Hums.' } }, undefined],
    ['the same traits', { personality: { uniqueQuirk: '' } }, 'approved'],
  ])('after a change of its owner to %s: %#', async (_, input, expected) => {
    expect(await after(APPROVED, toCaller('ada'), input)).toBe(expected);
  });

  it('is given and kept by the changes of an administrator, while the agent is public', async () => {
    expect(await after({ isPublic: true }, ADMIN, { name: 'Else' })).toBe('approved');
    expect(await after(APPROVED, ADMIN, { name: 'Else' })).toBe('approved');
    expect(await after({ ownerId: 'root' }, ADMIN, { isPublic: true })).toBe('approved');
    expect(await after({ ...APPROVED, ownerId: 'root' }, ADMIN, { isPublic: false })).toBeUndefined();
    expect(await after({}, ADMIN, { name: 'Else' })).toBeUndefined();
  });

  it('is not given by an API key of an administrator', async () => {
    const key = { kind: 'key', userId: 'ada', isAdmin: true } as unknown as Caller;
    expect(await after({ isPublic: true }, key, { name: 'Else' })).toBeUndefined();
  });

  it('stays refused until the owner publishes it again', async () => {
    const refused = { isPublic: true, publication: 'refused' } as const;
    expect(await after(refused, toCaller('ada'), { name: 'Else' })).toBe('refused');
    expect(await after(refused, toCaller('ada'), { isPublic: false })).toBe('refused');
    expect(await after(refused, toCaller('ada'), { isPublic: true })).toBeUndefined();
  });
});

it('refuses every use of agents with 403 while they are switched off', async () => {
  const reader = (EnableAgents: boolean) =>
    ({ current: async () => ({ EnableAgents }) }) as unknown as AdminSettingsReader;
  await expect(requireAgents(reader(false))).rejects.toMatchObject({
    status: 403,
    message: 'Agents are switched off',
  });
  await expect(requireAgents(reader(true))).resolves.toBeUndefined();
});
