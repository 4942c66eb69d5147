import type { GenerateRequest, ModelMessage } from '@questline/core/ports';
import { describe, expect, test } from 'vitest';
import { breakpoint, getBreakpoints } from '../src/caching.ts';
import { toThinking } from '../src/thinking.ts';
import { hello, scripted } from './scripted.ts';

const said = (role: ModelMessage['role'], cacheBreakpoint?: true): ModelMessage => ({
  role,
  content: [{ type: 'text', text: 'x' }],
  ...(cacheBreakpoint && { cacheBreakpoint }),
});
const SYSTEM = said('system');
const USER = said('user');
const ANSWER = said('assistant');
const MARKED = said('user', true);
const tools = [{ name: 'f', description: 'F', parameters: { type: 'object' } }];

const read = (messages: readonly ModelMessage[], more: Partial<GenerateRequest> = {}): readonly number[] =>
  [...getBreakpoints({ ...hello, messages, ...more })].filter((place) => place >= 0).toSorted();

describe('breakpoints of a prompt cache', () => {
  test.each<[string, readonly ModelMessage[], Partial<GenerateRequest>, readonly number[]]>([
    ['none in a single question', [USER], {}, []],
    ['the last system message', [SYSTEM, SYSTEM, USER], {}, [1]],
    ['the end of a conversation', [SYSTEM, USER, ANSWER, USER], {}, [0, 3]],
    ['the end of a question with tools', [USER], { tools }, [0]],
    ['none in the last round of tools', [USER, ANSWER, USER], { tools, toolChoice: 'none' }, []],
    ['the end without tools', [USER, ANSWER, USER], { tools: [], toolChoice: 'none' }, [2]],
    ['the marked message', [USER, MARKED, ANSWER, USER], {}, [1]],
    ['the last two marked ones', [MARKED, MARKED, ANSWER, MARKED, USER], {}, [1, 3]],
    ['no marked system message', [said('system', true), SYSTEM, USER, ANSWER], {}, [1, 3]],
    ['none where the cache is off', [SYSTEM, MARKED, ANSWER], { promptCache: { mode: 'off' } }, []],
  ])('are %s', (_title, messages, more, places) => {
    expect(read(messages, more)).toEqual(places);
  });

  test('last for an hour where the request asks for it', () => {
    const ephemeral = { type: 'ephemeral' };
    expect(breakpoint(hello)).toStrictEqual({ anthropic: { cacheControl: ephemeral } });
    expect(breakpoint({ ...hello, promptCache: { mode: 'auto', ttl: '5m' } })).toStrictEqual({
      anthropic: { cacheControl: ephemeral },
    });
    expect(breakpoint({ ...hello, promptCache: { mode: 'auto', ttl: '1h' } })).toStrictEqual({
      anthropic: { cacheControl: { ...ephemeral, ttl: '1h' } },
    });
  });
});

describe('thinking of a model', () => {
  const think = (provider: string, modelId: string, more: Partial<GenerateRequest>) =>
    toThinking(scripted([], { provider, modelId }).model, { ...hello, maxTokens: 10_000, ...more });

  test.each<[Partial<GenerateRequest>, string | undefined]>([
    [{}, undefined],
    [{ thinking: { budgetTokens: 4096 } }, 'low'],
    [{ thinking: { budgetTokens: 4097 } }, 'medium'],
    [{ thinking: { budgetTokens: 16_384 } }, 'medium'],
    [{ thinking: { budgetTokens: 16_385 } }, 'high'],
    [{ thinking: { budgetTokens: 1 }, reasoningEffort: 'xhigh' }, 'xhigh'],
    [{ reasoningEffort: 'none' }, 'none'],
  ])('for %j has the effort %s', (more, reasoning) => {
    expect(think('test.chat', 'claude-3-7-sonnet', more)).toEqual({
      maxOutputTokens: 10_000,
      ...(reasoning !== undefined && { reasoning }),
    });
  });

  test.each<[Partial<GenerateRequest>, number | undefined]>([
    [{}, undefined],
    [{ thinking: { budgetTokens: 1 } }, 1024],
    [{ thinking: { budgetTokens: 2000 } }, 2000],
    [{ thinking: { budgetTokens: 9500 } }, 9000],
    [{ reasoningEffort: 'medium' }, 5000],
    [{ maxTokens: 1365, thinking: { budgetTokens: 1 } }, undefined],
    [{ maxTokens: 1366, thinking: { budgetTokens: 1 } }, 1024],
  ])('of an Anthropic model with a budget for %j is %s', (more, budgetTokens) => {
    const { maxTokens = 10_000 } = more;
    expect(think('anthropic.messages', 'claude-3-7-sonnet', more)).toEqual({
      maxOutputTokens: maxTokens - (budgetTokens ?? 0),
      ...(budgetTokens !== undefined && {
        providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens } } },
      }),
    });
  });
});
