import type { PromptCacheHints } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { type CacheableMessage, lastCacheable, markBreakpoints } from './caching.ts';

const text = (value: string): Record<string, unknown> => ({ type: 'text', text: value });
const user = (...content: Record<string, unknown>[]): CacheableMessage => ({
  role: 'user',
  content,
  marked: [],
});
const assistant = (...content: Record<string, unknown>[]): CacheableMessage => ({
  ...user(...content),
  role: 'assistant',
});

interface Prompt {
  readonly tools?: Record<string, unknown>[];
  readonly system?: Record<string, unknown>[];
  readonly messages?: readonly CacheableMessage[];
  readonly hints?: PromptCacheHints;
  readonly rounds?: 'one' | 'more' | 'last';
  readonly least?: number;
}

/** The blocks that get a breakpoint, by their text. */
function mark({
  tools = [],
  system = [],
  messages = [],
  hints,
  rounds = 'more',
  least = 0,
}: Prompt): unknown[] {
  markBreakpoints({ tools, system, messages }, hints, rounds, least);
  return [...tools, ...system, ...messages.flatMap(({ content }) => content)].flatMap((block) =>
    block.cache_control === undefined ? [] : [block.text ?? block.type],
  );
}

describe('breakpoints of the prompt cache', () => {
  const prompt = () => ({
    tools: [text('t1'), text('t2')],
    system: [text('s1'), text('s2')],
    messages: [user(text('u1'), text('u2')), assistant(text('a1')), user(text('u3'))],
  });

  it('follow the tools, the system text and the last messages of the user, at most four', () => {
    expect(mark(prompt())).toEqual(['t2', 's2', 'u2', 'u3']);
    const create = () => ['u1', 'u2', 'u3', 'u4', 'u5'].map((value) => user(text(value)));
    expect(mark({ messages: create() })).toEqual(['u2', 'u3', 'u4', 'u5']);
    expect(mark({ messages: create(), system: [text('s')] })).toEqual(['s', 'u3', 'u4', 'u5']);
  });

  it('stand in the messages only if a later request reads them', () => {
    expect(mark({ ...prompt(), rounds: 'last' })).toEqual(['t2', 's2']);
    expect(mark({ ...prompt(), rounds: 'one' })).toEqual(['t2', 's2', 'u2', 'u3']);
    expect(mark({ ...prompt(), messages: [user(text('u1'))], rounds: 'one' })).toEqual(['t2', 's2']);
    expect(mark({ ...prompt(), messages: [user(text('u1'))] })).toEqual(['t2', 's2', 'u1']);
  });

  it('are those of the caller, the last ones', () => {
    const blocks = ['a', 'b', 'c', 'd', 'e'].map(text);
    const messages = [{ ...user(...blocks), marked: blocks }, user(text('z'))];
    expect(mark({ messages, system: [text('s')], rounds: 'one' })).toEqual(['s', 'c', 'd', 'e']);
  });

  it('keep entries as long as asked', () => {
    const control = (hints?: PromptCacheHints) => {
      const system = [text('s')];
      mark({ system, ...(hints !== undefined && { hints }) });
      return system[0]?.cache_control;
    };
    expect(control()).toEqual({ type: 'ephemeral' });
    expect(control({ mode: 'auto', ttl: '1h' })).toEqual({ type: 'ephemeral', ttl: '1h' });
    expect(control({ mode: 'auto', ttl: '5m' } as PromptCacheHints)).toEqual({ type: 'ephemeral' });
    expect(control({ mode: 'off', ttl: '1h' })).toBeUndefined();
  });

  it.each<[string, Record<string, unknown>, number]>([
    ['a text', text('x'.repeat(25)), 10],
    ['an image', { type: 'image', source: { data: 'x' } }, 1000],
    ['a text document', { type: 'document', source: { media_type: 'text/plain', data: 'x'.repeat(25) } }, 10],
    [
      'a PDF',
      { type: 'document', source: { media_type: 'application/pdf', data: 'x'.repeat(44_000) } },
      1000,
    ],
    [
      'a longer PDF',
      { type: 'document', source: { media_type: 'application/pdf', data: 'x'.repeat(44_001) } },
      2000,
    ],
    ['another block', { type: 'other', a: 'xx' }, 10],
  ])('need a prefix of the least tokens, with the size of %s', (_title, block, tokens) => {
    expect(mark({ messages: [user({ ...block })], least: tokens })).toHaveLength(1);
    expect(mark({ messages: [user({ ...block })], least: tokens + 0.5 })).toHaveLength(0);
  });

  it('count all that stands before them', () => {
    const messages = [user(text('x'.repeat(25))), user(text('y'.repeat(25)))];
    expect(mark({ messages, least: 15 })).toEqual(['y'.repeat(25)]);
  });

  it('never stand on thoughts', () => {
    const [first, ...thoughts] = [text('a'), { type: 'thinking' }, { type: 'redacted_thinking' }];
    expect(lastCacheable([first ?? {}, ...thoughts])).toBe(first);
    expect(lastCacheable(thoughts)).toBeUndefined();
    expect(mark({ messages: [user(...thoughts)] })).toEqual([]);
  });
});
