import { describe, expect, it } from 'vitest';
import { toAgent, toAgentId } from '../../../../../test/support/agent-records.ts';
import type { LinkReader } from '../../access/links.ts';
import { createMemoryStore } from '../../memory/store.ts';
import type { AdminSettingsReader } from '../../operations/admin-settings.ts';
import type { PromptContext } from '../../prompts/prompt.ts';
import { createFindMentions, mentionedAgents, withAgentLinks } from './mentions.ts';
import { createAgentReach } from './reach.ts';
import { AGENTS, type AgentPublishing, type AgentRecord } from './records.ts';

/** Agents by number, in the order of their creation. Those of `ada` by default. */
async function setUp(agents: readonly Partial<AgentRecord>[], publishing: AgentPublishing = 'approval') {
  const store = createMemoryStore();
  for (const [number, agent] of agents.entries()) {
    await store.collection(AGENTS).insert(toAgent(number, agent));
  }
  const settings = { EnableAgents: true, AgentPublishing: publishing };
  const adminSettings = { current: async () => settings } as unknown as AdminSettingsReader;
  const agentReach = createAgentReach({ store, adminSettings });
  const services = { store, adminSettings, agentReach };
  const find = createFindMentions(services);
  return {
    ...services,
    settings,
    find: async (message: string, agentIds?: readonly string[], userId = 'ada', ownerId = userId) => {
      const found = await find(userId, message, agentIds && { ownerId, agentIds });
      return found.map(({ agent, isChosen }) => [Number.parseInt(agent.id, 16), isChosen]);
    },
  };
}

const X = { triggerWords: ['@x'] };
const OTHER = { ...X, ownerId: 'grace' };
const SHARED = { ...OTHER, readerIds: ['ada'] };
const PUBLISHED: Partial<AgentRecord> = { ...OTHER, isPublic: true, publication: 'approved' };

describe('agent that a message mentions', () => {
  it('is the attached one, then the own one, then the shared one, then the published one', async () => {
    const agents = [PUBLISHED, SHARED, X, X];
    const { find } = await setUp(agents);
    expect(await find('@x', [toAgentId(3)])).toEqual([[3, true]]);
    expect(await find('@x')).toEqual([[2, true]]);
    expect(await (await setUp(agents.slice(0, 2))).find('@x')).toEqual([[1, false]]);
    expect(await (await setUp([PUBLISHED, PUBLISHED])).find('@x')).toEqual([[0, false]]);
  });

  it('is the oldest of several with the word', async () => {
    const { find } = await setUp([3, 1, 2].map((createdAt) => ({ ...X, createdAt })));
    expect(await find('@x')).toEqual([[1, true]]);
  });

  it.each<[string, Partial<AgentRecord>, AgentPublishing, number]>([
    ['is no private one of another user', OTHER, 'open', 0],
    ['is no public one without an approval', { ...OTHER, isPublic: true }, 'approval', 0],
    ['is a public one where no approval is needed', { ...OTHER, isPublic: true }, 'open', 1],
    ['is no refused one', { ...PUBLISHED, publication: 'refused' }, 'open', 0],
    ['is no one that is private again', { ...PUBLISHED, isPublic: false }, 'approval', 0],
  ])('%s', async (_name, agent, publishing, count) => {
    expect(await (await setUp([agent], publishing)).find('@x')).toHaveLength(count);
  });

  it('is an attached one of another user only where the owner of the session has it', async () => {
    const { find } = await setUp([OTHER]);
    const attached = [toAgentId(0)];
    expect(await find('@x', attached, 'ada', 'grace')).toEqual([[0, true]]);
    expect(await find('@x', attached, 'ada', 'ada')).toEqual([]);
    expect(await find('@x', [], 'ada', 'grace')).toEqual([]);
  });

  it.each([
    ['Hello @x!', 1],
    ['Hello @X, @x', 1],
    ['@X', 1],
    ['(@x)', 1],
    ['@xy', 0],
    ['mail a@x', 0],
    ['a.@x', 0],
    ['x', 0],
    ['', 0],
  ])('is found in %j: %i', async (message, count) => {
    expect(await (await setUp([X])).find(message)).toHaveLength(count);
  });

  it('is one of three at most, and one of many words once', async () => {
    const { find } = await setUp(
      ['@a', '@b', '@c', '@d'].map((word) => ({ triggerWords: [word, `${word}2`] })),
    );
    expect((await find('@d @c @b @a')).map(([number]) => number)).toEqual([3, 2, 1]);
    expect((await find('@a @a2')).map(([number]) => number)).toEqual([0]);
  });

  it('is absent while agents are off', async () => {
    const { find, settings } = await setUp([X]);
    settings.EnableAgents = false;
    expect(await find('@x')).toEqual([]);
  });

  it('is part of the prompt of the turn, with its text only for its owner', async () => {
    const services = await setUp([{ ...SHARED, systemPrompt: 'Rule.' }, X]);
    const ask = (features?: object, userId = 'ada') =>
      mentionedAgents(services)({ features, message: '@x', userId } as unknown as PromptContext);
    for (const features of [undefined, {}, { agents: false }]) expect(await ask(features)).toEqual([]);
    expect(await ask({ agents: true }, 'grace')).toMatchObject([
      { name: 'agent:n0', perTurn: true, isPrivate: false, text: 'You speak as n0.\nRule.' },
    ]);
    expect(await ask({ agents: true })).toMatchObject([{ name: 'agent:n1', isPrivate: false }]);
    const shared = await setUp([SHARED]);
    const parts = await mentionedAgents(shared)({
      ...{ features: { agents: true }, message: '@x', userId: 'ada' },
    } as unknown as PromptContext);
    expect(parts).toMatchObject([{ isPrivate: true }]);
  });
});

describe('reach of a user', () => {
  const attachedTo = (ownerId: string, ...numbers: number[]) => ({
    ownerId,
    agentIds: numbers.map(toAgentId),
  });

  it('finds an agent of the owner of the session only where it is attached', async () => {
    const { agentReach } = await setUp([OTHER, X]);
    const find = (number: number, session?: ReturnType<typeof attachedTo>) =>
      agentReach.find('ada', toAgentId(number), session).then((agent) => agent?.id);
    expect(await find(0)).toBeUndefined();
    expect(await find(0, attachedTo('grace', 0))).toBe(toAgentId(0));
    expect(await find(0, attachedTo('grace', 1))).toBeUndefined();
    expect(await find(0, attachedTo('ada', 0))).toBeUndefined();
    expect(await find(1)).toBe(toAgentId(1));
    expect(await agentReach.find('ada', 'no id')).toBeUndefined();
  });

  it('lists what it can use in the given order, once', async () => {
    const { agentReach } = await setUp([X, OTHER, SHARED]);
    const list = async (...numbers: number[]) =>
      (await agentReach.list('ada', numbers.map(toAgentId))).map(({ id }) => Number.parseInt(id, 16));
    expect(await list(2, 1, 0, 2, 9)).toEqual([2, 0]);
    expect(await list()).toEqual([]);
    expect(await agentReach.attached('ada', { ownerId: 'ada' } as never)).toEqual([]);
  });

  it('decides which agents can be attached, and leaves other references to others', async () => {
    const { agentReach } = await setUp([X, OTHER]);
    const others: LinkReader = {
      findReadable: async (kind, ids, userId) => new Set([`${kind} ${ids} ${userId}`]),
      findExisting: async (kind, ids) => new Set([`${kind} ${ids}`]),
    };
    const links = withAgentLinks(agentReach, others);
    const ids = [toAgentId(0), toAgentId(1), toAgentId(2)];
    expect(await links.findReadable('agent', ids, 'ada')).toEqual(new Set([toAgentId(0)]));
    expect(await links.findExisting('agent', ids)).toEqual(new Set([toAgentId(0), toAgentId(1)]));
    expect(await links.findExisting('agent', [toAgentId(1), toAgentId(9)])).toEqual(new Set([toAgentId(1)]));
    expect(await links.findReadable('file', ['f'], 'ada')).toEqual(new Set(['file f ada']));
    expect(await links.findExisting('file', ['f'])).toEqual(new Set(['file f']));
  });
});
