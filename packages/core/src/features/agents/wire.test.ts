import { describe, expect, it } from 'vitest';
import { NO_TRAITS, toAgent, toAgentId } from '../../../../../test/support/agent-records.ts';
import type { AgentRecord } from './records.ts';
import { fromAgentBody, fromApplicationBody, toApplicationAgent, toWireAgent } from './wire.ts';

const SET: Partial<AgentRecord> = {
  ...{ name: 'Grace', description: 'Counts.', systemPrompt: 'Count.', preferredModel: 'm', temperature: 0.5 },
  ...{
    maxTokens: 7,
    allowedTools: ['a'],
    deniedTools: ['b'],
    triggerWords: ['@g'],
    avatarUrl: 'https://a.b',
  },
  ...{ capabilities: ['math'], createdAt: 1000, updatedAt: 2000 },
};
const TIMES = ['1970-01-01T00:00:01.000Z', '1970-01-01T00:00:02.000Z'] as const;

describe('agent in the public API', () => {
  const expected = {
    ...{ id: toAgentId(1), name: 'Grace', description: 'Counts.', system_prompt: 'Count.' },
    ...{ preferred_model: 'm', temperature: 0.5, max_tokens: 7, allowed_tools: ['a'], denied_tools: ['b'] },
    ...{ trigger_words: ['@g'], is_owner: true, created_at: TIMES[0], updated_at: TIMES[1] },
  };

  it('shows its fields, and its prompt to its owner only', () => {
    expect(toWireAgent(toAgent(1, SET), 'ada')).toEqual(expected);
    expect(toWireAgent(toAgent(1, SET), 'bob')).toEqual({
      ...expected,
      ...{ system_prompt: null, is_owner: false },
    });
  });

  it('shows null for what is not set', () => {
    const shown = toWireAgent(toAgent(1), 'ada');
    const { system_prompt, preferred_model, temperature, max_tokens, allowed_tools, denied_tools } = shown;
    expect([system_prompt, preferred_model, temperature, max_tokens, allowed_tools, denied_tools]).toEqual(
      Array(6).fill(null),
    );
  });

  it('is changed by the fields that a body has; null unsets', () => {
    const body = {
      ...{ name: 'Grace', description: '', system_prompt: 'Count.', preferred_model: 'm', temperature: 0 },
      ...{ max_tokens: 7, allowed_tools: ['a'], denied_tools: [], trigger_words: ['G', '@g'] },
    };
    expect(fromAgentBody(body)).toEqual({
      ...{ name: 'Grace', description: '', systemPrompt: 'Count.', preferredModel: 'm', temperature: 0 },
      ...{ maxTokens: 7, allowedTools: ['a'], deniedTools: [], triggerWords: ['@g'] },
    });
    expect(Object.keys(fromAgentBody({}))).toEqual([]);
    const unset = fromAgentBody({
      ...{ system_prompt: null, preferred_model: null, temperature: null, max_tokens: null },
      ...{ allowed_tools: null, denied_tools: null },
    });
    expect(Object.entries(unset)).toEqual(
      ['systemPrompt', 'preferredModel', 'temperature', 'maxTokens', 'allowedTools', 'deniedTools'].map(
        (field) => [field, undefined],
      ),
    );
  });
});

describe('agent in the application API', () => {
  it('shows its fields', () => {
    expect(toApplicationAgent(toAgent(1, SET), 'approval')).toEqual({
      ...{ id: toAgentId(1), name: 'Grace', description: 'Counts.', avatarUrl: 'https://a.b' },
      ...{ personality: NO_TRAITS, capabilities: ['math'], triggerWords: ['@g'], isPublic: false },
      ...{ publication: 'private', ownerId: 'ada', createdAt: TIMES[0], updatedAt: TIMES[1] },
    });
    expect(toApplicationAgent(toAgent(1), 'approval').avatarUrl).toBeNull();
  });

  it.each([
    [false, 'approved', 'open', 'private'],
    [false, 'refused', 'open', 'private'],
    [true, 'refused', 'open', 'refused'],
    [true, 'refused', 'approval', 'refused'],
    [true, 'approved', 'approval', 'published'],
    [true, undefined, 'approval', 'pending'],
    [true, undefined, 'open', 'published'],
  ] as const)('public %s with the decision %s where publishing is %s is %s', (...given) => {
    const [isPublic, publication, publishing, expected] = given;
    expect(toApplicationAgent(toAgent(1, { isPublic, publication }), publishing).publication).toBe(expected);
  });

  it('is changed by the fields that a body has', () => {
    const body = {
      ...{ name: 'Grace', description: '', avatarUrl: 'https://a.b', personality: { uniqueQuirk: 'Hums.' } },
      ...{ capabilities: [], triggerWords: ['G', '@g'], isPublic: false },
    };
    expect(fromApplicationBody(body)).toEqual({ ...body, triggerWords: ['@g'] });
    expect(Object.keys(fromApplicationBody({}))).toEqual([]);
    expect(Object.entries(fromApplicationBody({ avatarUrl: null }))).toEqual([['avatarUrl', undefined]]);
    const named = fromApplicationBody({ personality: { uniqueQuirk: undefined, responseStyle: '' } });
    expect(Object.keys(named.personality ?? {})).toEqual(['responseStyle']);
  });
});
