import { describe, expect, it } from 'vitest';
import { NO_TRAITS } from '../../../../../test/support/agent-records.ts';
import { getAgentOptions, getToolLimits, permits } from './options.ts';
import { toPersona } from './persona.ts';
import type { AgentRecord } from './records.ts';

const agent = (more: Partial<AgentRecord> = {}): AgentRecord =>
  ({
    id: 'a',
    ownerId: 'ada',
    name: 'Grace',
    description: '',
    personality: NO_TRAITS,
    capabilities: [],
    ...more,
  }) as AgentRecord;
const LEAD = { preferredModel: 'm', temperature: 0.5, maxTokens: 9 };

describe('options of the agents of a turn', () => {
  it('come from the first agent that the user has chosen, never from another one', () => {
    const costly = agent({ preferredModel: 'costly', temperature: 1, maxTokens: 999, deniedTools: ['x'] });
    const none = { model: undefined, temperature: undefined, maxTokens: undefined };
    expect(getAgentOptions([])).toEqual(none);
    expect(getAgentOptions([{ agent: costly, isChosen: false }])).toEqual({
      ...none,
      tools: { denied: ['x'] },
    });
    expect(
      getAgentOptions([
        { agent: costly, isChosen: false },
        { agent: agent(LEAD), isChosen: true },
        { agent: costly, isChosen: true },
      ]),
    ).toEqual({ model: 'm', temperature: 0.5, maxTokens: 9, tools: { denied: ['x'] } });
  });
});

describe('limits of tools', () => {
  it.each<[readonly Partial<AgentRecord>[], ReturnType<typeof getToolLimits>]>([
    [[], undefined],
    [[{}, { deniedTools: [] }], undefined],
    [[{ deniedTools: ['a', 'b'] }, { deniedTools: ['b', 'c'] }], { denied: ['a', 'b', 'c'] }],
    [[{ allowedTools: [] }], { allowed: [], denied: [] }],
    [[{}, { allowedTools: ['a', 'b'] }], { allowed: ['a', 'b'], denied: [] }],
    [[{ allowedTools: ['a', 'b'] }, { allowedTools: ['b', 'c'] }], { allowed: ['b'], denied: [] }],
    [
      [{ allowedTools: ['a'] }, { allowedTools: ['a'] }, { allowedTools: ['b'] }],
      { allowed: [], denied: [] },
    ],
  ])('of %j are %j', (agents, limits) => {
    expect(getToolLimits(agents.map(agent))).toEqual(limits);
  });

  it('permit what is allowed and not denied', () => {
    const permit = (limits: Parameters<typeof permits>[0]) =>
      ['a', 'b', 'c'].filter((id) => permits(limits, id));
    expect(permit({ denied: [] })).toEqual(['a', 'b', 'c']);
    expect(permit({ denied: ['a'] })).toEqual(['b', 'c']);
    expect(permit({ allowed: ['a', 'b'], denied: ['a'] })).toEqual(['b']);
    expect(permit({ allowed: [], denied: [] })).toEqual([]);
  });
});

describe('prompt of an agent', () => {
  it('has its name, description, traits, abilities and own text', () => {
    const traits = Object.fromEntries(Object.keys(NO_TRAITS).map((trait) => [trait, `my ${trait}`]));
    const full = agent({
      ...{ description: 'Counts.', capabilities: ['adding', 'doubling'], systemPrompt: 'Rule.' },
      personality: traits as unknown as AgentRecord['personality'],
    });
    expect(toPersona(full, 'ada')).toMatchObject({
      source: 'session',
      name: 'agent:Grace',
      agent: { id: 'a' },
    });
    expect(toPersona(full, 'ada').text.split('\n')).toEqual([
      'You speak as Grace. Counts.',
      'What drives you most: my majorMotivation',
      'What drives you too: my minorMotivation',
      'Your flaw: my characterFlaw',
      'Your quirk: my uniqueQuirk',
      'How you answer: my responseStyle',
      'You are good at: adding, doubling',
      'Rule.',
    ]);
  });

  it.each([undefined, ''])('leaves out what is not set (own text: %j)', (systemPrompt) => {
    expect(toPersona(agent({ systemPrompt }), 'ada').text).toBe('You speak as Grace.');
  });

  it.each([
    ['ada', false],
    ['grace', true],
  ])('is private for those who do not own it: %s', (userId, isPrivate) => {
    expect(toPersona(agent(), userId).isPrivate).toBe(isPrivate);
  });
});
