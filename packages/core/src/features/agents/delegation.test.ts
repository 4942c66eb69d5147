import { describe, expect, it } from 'vitest';
import { toAgent, toAgentId } from '../../../../../test/support/agent-records.ts';
import { createMemoryStore } from '../../memory/store.ts';
import type { AdminSettingsReader } from '../../operations/admin-settings.ts';
import { ApiError } from '../../shared/errors.ts';
import type { Consultation, ToolContext, ToolScope } from '../../tools/registry.ts';
import { SESSIONS, type SessionRecord } from '../sessions/records.ts';
import { DELEGATE_TO_AGENT, delegationTools } from './delegation.ts';
import { createAgentReach } from './reach.ts';
import { AGENTS, type AgentRecord } from './records.ts';

const SCOPE = { userId: 'ada', sessionId: 's', agents: true } as unknown as ToolScope;
const OTHER = { ownerId: 'grace' };
const PUBLISHED = { ...OTHER, isPublic: true, publication: 'approved' } as const;

/** Agents `n0`, `n1` and so on, in the order of their creation. Those of `ada` by default. */
async function setUp(agents: readonly Partial<AgentRecord>[], session: Partial<SessionRecord> = {}) {
  const store = createMemoryStore();
  for (const [number, agent] of agents.entries()) {
    await store.collection(AGENTS).insert(toAgent(number, agent));
  }
  const known = { id: 's', ownerId: 'ada', name: 'n', firstCreated: 0, lastUpdated: 0, ...session };
  await store.collection(SESSIONS).insert(known);
  const settings = { EnableAgents: true, AgentPublishing: 'approval' };
  const adminSettings = { current: async () => settings } as unknown as AdminSettingsReader;
  const registry = delegationTools({
    store,
    adminSettings,
    agentReach: createAgentReach({ store, adminSettings }),
  });
  const offered = async (scope: ToolScope = SCOPE) => {
    const [offer] = await registry.list(scope);
    return offer?.schema.description.split('\n').slice(1);
  };
  const leaving = new AbortController();
  const consulted: Consultation[] = [];
  const run = (agent: string, consult: ToolContext['consult'] | null = async () => 'Done.') =>
    registry.run({ tool: DELEGATE_TO_AGENT, input: { agent, task: 'Count.' } }, {
      ...SCOPE,
      ...{ callKey: 'k', requestId: 'r', signal: leaving.signal },
      ...(consult && {
        consult: (one: Consultation) => {
          consulted.push(one);
          return consult(one);
        },
      }),
    } as ToolContext);
  return { registry, offered, run, consulted, settings, leaving };
}

describe('agents that a turn may ask', () => {
  it('are the attached ones, then the own, the shared and the published ones, the newest first', async () => {
    const agents = [PUBLISHED, { ...OTHER, readerIds: ['ada'] }, {}, {}, OTHER, OTHER];
    const { offered } = await setUp(agents, { agentIds: [toAgentId(1)] });
    expect(await offered()).toEqual(['- n1', '- n3', '- n2', '- n0']);
    const shared = { ownerId: 'grace', writerIds: ['ada'], agentIds: [toAgentId(4)] };
    expect(await (await setUp(agents, shared)).offered()).toEqual(['- n4', '- n3', '- n2', '- n1', '- n0']);
    const hidden = { ownerId: 'grace', agentIds: [toAgentId(4)] };
    expect(await (await setUp(agents, hidden)).offered()).not.toContain('- n4');
  });

  it('are twenty at most', async () => {
    const { offered } = await setUp(Array.from({ length: 25 }, () => ({})));
    const names = await offered();
    expect([names?.length, names?.[0], names?.at(-1)]).toEqual([20, '- n24', '- n5']);
    const mixed = Array.from({ length: 30 }, (_, at) => (at < 15 ? { ...OTHER, readerIds: ['ada'] } : {}));
    expect(await (await setUp(mixed)).offered()).toHaveLength(20);
  });

  it('are published ones where own ones leave room', async () => {
    const agents = Array.from({ length: 30 }, (_, at) => (at < 15 ? PUBLISHED : {}));
    const names = await (await setUp(agents)).offered();
    expect([names?.length, names?.[14], names?.[15], names?.at(-1)]).toEqual([20, '- n15', '- n14', '- n10']);
  });

  it('are described in one short line each', async () => {
    const { offered } = await setUp([{ description: `a \n b${'😀'.repeat(300)}` }]);
    expect(await offered()).toEqual([`- n0: a b${'😀'.repeat(195)}`]);
  });

  it('are absent in turns without agents, and while they are off', async () => {
    const { offered, registry, settings } = await setUp([{}]);
    const { agents: _, ...without } = SCOPE;
    expect(await offered(without)).toBeUndefined();
    expect(await registry.find(DELEGATE_TO_AGENT, without)).toBeUndefined();
    expect(await registry.select('n0', without)).toEqual([]);
    expect((await registry.find(DELEGATE_TO_AGENT, SCOPE))?.id).toBe(DELEGATE_TO_AGENT);
    expect(await registry.find('another', SCOPE)).toBeUndefined();
    settings.EnableAgents = false;
    expect(await offered()).toBeUndefined();
    expect(await (await setUp([OTHER])).offered()).toBeUndefined();
  });

  it('are offered to a message that names one', async () => {
    const { registry } = await setUp([{ name: 'Grace' }]);
    const select = async (message: string) => (await registry.select(message, SCOPE)).length;
    expect([await select('Ask GRACE!'), await select('Ask Alan.')]).toEqual([1, 0]);
  });
});

describe('task for an agent', () => {
  const LIMITED = { name: 'Grace', allowedTools: ['a', 'b'], deniedTools: ['b'], systemPrompt: 'Rule.' };

  it('is refused in a turn without agents', async () => {
    const { registry } = await setUp([LIMITED]);
    const { agents: _, ...without } = SCOPE;
    const context = { ...without, callKey: 'k', requestId: 'r', consult: async () => 'Done.' };
    const call = { tool: DELEGATE_TO_AGENT, input: { agent: 'Grace', task: 'Count.' } };
    expect(await registry.run(call, context as unknown as ToolContext)).toMatchObject({ isError: true });
  });

  it.each(['Grace', ' @grace ', toAgentId(0)])(
    'is given to the agent %j, with its text and its tools',
    async (name) => {
      const { run, consulted } = await setUp([LIMITED]);
      expect(await run(name)).toEqual({
        ...{ content: 'Done.', isError: false },
        payload: {
          type: 'agent',
          payload: { id: toAgentId(0), name: 'Grace', task: 'Count.', result: 'Done.' },
        },
      });
      expect(consulted).toMatchObject([
        {
          agent: { id: toAgentId(0), name: 'Grace' },
          task: 'Count.',
          system: expect.stringMatching(/Grace\.\nRule\.\n\nAnother/),
        },
      ]);
      expect(['a', 'b', 'c'].map((id) => consulted[0]?.mayUse(id))).toEqual([true, false, false]);
    },
  );

  it('leaves all tools to an agent without limits', async () => {
    const { run, consulted } = await setUp([{}]);
    await run('n0');
    expect(consulted[0]?.mayUse('a')).toBe(true);
  });

  it.each<[string, string, ToolContext['consult'] | null, string]>([
    ['to an unknown agent', 'Alan', async () => 'x', 'There is no agent Alan. Available agents: n1, n0.'],
    ['without a result', 'n0', async () => ' \n', 'n0 returned no text.'],
    ['without credit', 'n0', () => Promise.reject(new ApiError(422, 'No credit')), 'n0 failed: No credit'],
    ['where an agent cannot ask', 'n0', null, 'Delegation is not available here. Do the task yourself.'],
  ])('fails %s', async (_name, agent, consult, content) => {
    expect(await (await setUp([{}, {}])).run(agent, consult)).toEqual({ content, isError: true });
  });

  it('ends with the work', async () => {
    const { run, leaving } = await setUp([{}]);
    leaving.abort(new Error('stopped'));
    const result = await run('n0', () => Promise.reject(new ApiError(422, 'late'))).catch(String);
    expect(JSON.stringify(result)).not.toContain('late');
  });
});
