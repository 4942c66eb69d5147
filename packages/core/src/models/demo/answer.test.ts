import { describe, expect, it } from 'vitest';
import type {
  GenerateRequest,
  ModelContent,
  ModelMessage,
  ModelPart,
  ToolSchema,
} from '../../ports/models.ts';
import { wrapContext } from '../turn-context.ts';
import { composeAnswer } from './answer.ts';

const user = (...content: ModelContent[]): ModelMessage => ({ role: 'user', content });
const text = (words: string): ModelContent => ({ type: 'text', text: words });
const result = (content: string, isError: boolean): ModelContent => ({
  ...({ type: 'tool_result', toolUseId: 't', toolName: 'clock', content, isError } as const),
});
const tool = (name: string): ToolSchema => ({ name, description: '', parameters: { type: 'object' } });

function compose(request: Partial<GenerateRequest>) {
  const parts = composeAnswer({ model: 'demo-chat', messages: [], maxTokens: 4096, ...request });
  const join = (type: 'text' | 'thinking_delta') =>
    parts.map((part) => (part.type === type ? (part as { text: string }).text : '')).join('');
  const find = <T extends ModelPart['type']>(type: T) =>
    parts.filter((part): part is Extract<ModelPart, { type: T }> => part.type === type);
  return {
    ...{ parts, said: join('text'), thought: join('thinking_delta') },
    calls: find('tool_use').map(({ id, name }) => [id, name]),
    usage: find('usage')[0]?.usage,
    reason: find('finish')[0]?.reason,
  };
}

const ask = (words: string, more: Partial<GenerateRequest> = {}) =>
  compose({ messages: [user(text(words))], ...more });

describe('choice of tools by the demo model', () => {
  const tools = ['ls', 'get_weather', 'webSearch', 'clock', 'for_it'].map(tool);
  const choose = (words: string, more: Partial<GenerateRequest> = {}) =>
    ask(words, { tools, ...more }).calls.map(([, name]) => name);

  it.each([
    ['Use clock and get_weather', ['get_weather', 'clock']],
    ['the weather please', ['get_weather']],
    ['search something', ['webSearch']],
    ['use it for me, get the tool', []],
    ['also', []],
    ['nothing', []],
  ])('reads the message: %s', (words, names) => {
    expect(choose(words)).toEqual(names);
  });

  it('is that of the request', () => {
    expect(choose('clock', { toolChoice: 'none' })).toEqual([]);
    expect(choose('nothing', { toolChoice: 'required' })).toEqual(['ls']);
    expect(choose('the weather', { toolChoice: 'required' })).toEqual(['get_weather']);
    expect(choose('clock', { toolChoice: { name: 'webSearch' } as never })).toEqual(['webSearch']);
    expect(choose('clock and get_weather', { parallelToolCalls: false })).toEqual(['get_weather']);
    expect(choose('clock', { model: 'demo-echo' })).toEqual([]);
  });

  it('ends with the results of tools, unless the request wants a call', () => {
    const messages = [user(text('clock')), user(text('clock'), result('12:00', false))];
    expect(compose({ messages, tools }).calls).toEqual([]);
    expect(compose({ messages, tools, toolChoice: 'required' }).calls).toEqual([['demo_call_1', 'clock']]);
  });

  it('numbers the calls of a conversation', () => {
    const earlier: ModelContent = { type: 'tool_use', id: 'x', name: 'clock', input: {} };
    const messages: ModelMessage[] = [
      { role: 'assistant', content: [earlier, earlier] },
      user(text('clock')),
    ];
    expect(compose({ messages, tools }).calls).toEqual([['demo_call_3', 'clock']]);
  });

  it('is said, counted and streamed in pieces', () => {
    const { parts, reason, said, usage } = ask('clock', { tools });
    expect([said, reason]).toEqual(['I use clock.', 'tool_use']);
    // Four characters a token: 12 and `clock{}`.
    expect(usage?.output).toBe(3 + 2);
    expect(parts.filter(({ type }) => type === 'tool_use_delta')).toEqual([
      { type: 'tool_use_delta', index: 0, id: 'demo_call_1', name: 'clock', arguments: '' },
      { type: 'tool_use_delta', index: 0, arguments: '{}' },
    ]);
  });

  it('is not made when the answer is cut off', () => {
    const { calls, reason, said, usage } = ask('clock', { tools, maxTokens: 2 });
    expect({ calls, reason, said, output: usage?.output }).toEqual({
      ...{ calls: [], reason: 'max_tokens', said: 'I use cl', output: 2 },
    });
  });
});

describe('text of the demo model', () => {
  it('is JSON if the request wants it', () => {
    const { said } = ask('Hi', { responseFormat: { type: 'json' } });
    expect(JSON.parse(said)).toEqual({ model: 'demo-chat', offline: true, question: 'Hi' });
  });

  it('describes the results of tools, up to 500 tokens each', () => {
    const { said } = compose({ messages: [user(result('x'.repeat(2001), false), result('no', true))] });
    expect(said).toContain(`The tool clock answered:\n\n${'x'.repeat(2000)}\n\n`);
    expect(said).toContain('The tool clock failed:\n\nno\n\n');
    expect(said).not.toContain('You asked');
  });

  it('repeats up to 100 tokens of the question, without the context of the workspace', () => {
    const words = `${'y'.repeat(400)}z`;
    const { said } = compose({ messages: [user(text(wrapContext('Monday')), text(words))] });
    expect(said).toContain(`You asked: ${'y'.repeat(400)}\n`);
    expect(said).not.toContain('Monday');
  });

  it('counts up to 1,000', () => {
    expect(ask('Count to 3!').said).toMatch(/^1, 2, 3\.\n/);
    expect(ask('count up to 1001').said).toContain(', 1000.\n');
  });

  it('offers the first tool, as long as there is no result', () => {
    const tools = [tool('abc'), tool('def')];
    const offer = 'I was offered 2 tools: ask me to use abc.';
    expect(ask('Hi', { tools }).said).toContain(offer);
    expect(ask('Hi', { tools: tools.slice(1) }).said).toContain('I was offered 1 tool: ask me to use def.');
    expect(ask('Hi').said).not.toContain('I was offered');
    expect(compose({ messages: [user(result('', false))], tools }).said).not.toContain('I was offered');
  });

  it.each([
    ['QQ==', '1 byte'],
    ['QUI=', '2 bytes'],
    ['QUJD', '3 bytes'],
    [Buffer.alloc(1023).toString('base64'), '1023 bytes'],
    [Buffer.alloc(1024).toString('base64'), '1.0 KB'],
  ])('names the size of files: %.10s', (data, size) => {
    const image: ModelContent = { type: 'image', mediaType: 'image/png', data };
    const document: ModelContent = { type: 'document', name: 'a.pdf', mediaType: 'application/pdf', data };
    const { said } = compose({ messages: [user(image, document)] });
    expect(said).toContain(`You sent an image (image/png, ${size}) and a.pdf (application/pdf, ${size}).`);
  });

  it('ends before the first stop sequence', () => {
    expect(ask('Hi', { stop: ['nowhere', 'model', 'offline'] }).said).toMatch(/I am the $/);
    expect(ask('Hi', { stop: ['You'] }).said).toBe('');
    expect(ask('abc', { model: 'demo-echo', stop: ['x'] })).toMatchObject({ said: 'abc', reason: 'stop' });
  });

  it('is cut at the output limit, to the token', () => {
    const echo = (maxTokens: number) => {
      const { reason, said } = ask('abcdefgh', { model: 'demo-echo', maxTokens });
      return [said, reason];
    };
    expect([2, 1, 0, -1].map(echo)).toEqual([
      ['abcdefgh', 'stop'],
      ['abcd', 'max_tokens'],
      ['', 'max_tokens'],
      ['', 'max_tokens'],
    ]);
  });
});

describe('reasoning of the demo model', () => {
  const start = 'I read the last message of 1 message.';

  it('is there if the request wants it, and says what comes', () => {
    expect(ask('Hi').thought).toBe('');
    expect(ask('Hi', { reasoningEffort: 'low' }).thought).toContain(`${start} No tool is needed for it.`);
    const tools = [tool('clock')];
    const thinking = { budgetTokens: 1000 } as NonNullable<GenerateRequest['thinking']>;
    expect(ask('clock', { thinking, tools }).thought).toContain(`${start} It asks for clock.`);
    expect(ask('Hi', { reasoningEffort: 'low', model: 'demo-echo' }).thought).toBe('');
  });

  it('is bounded by its budget, and counts for the output limit', () => {
    const thinking = { budgetTokens: 2 } as NonNullable<GenerateRequest['thinking']>;
    const { said, thought, usage } = ask('Hi', { thinking, maxTokens: 3 });
    expect([thought, said]).toEqual(['I read t', 'You ']);
    expect(usage).toMatchObject({ output: 1, reasoning: 2 });
  });
});

it('counts the tokens of a request: four characters, or 300 for an image', () => {
  const image: ModelContent = { type: 'image', mediaType: 'image/png', data: 'QQ==' };
  const count = (...content: ModelContent[]) => compose({ messages: [user(...content)] }).usage?.input;
  expect([count(text('')), count(text('abcde')), count(text('abcd'), image, image)]).toEqual([1, 2, 601]);
});
