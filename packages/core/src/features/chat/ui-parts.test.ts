import { describe, expect, it } from 'vitest';
import { type ContinuedMessage, createUiParts } from './ui-parts.ts';

type Chunk = Readonly<Record<string, unknown>>;

function setUp(continued?: ContinuedMessage, clientTools: readonly string[] = []) {
  const chunks: Chunk[] = [];
  const parts = createUiParts('m', (chunk) => chunks.push(chunk), new Set(clientTools), continued);
  /** The chunks since the last call. */
  const take = () => chunks.splice(0);
  return { parts, take };
}

const STEP = { type: 'start-step' };
const END_STEP = { type: 'finish-step' };
const SERVER = { dynamic: true, providerExecuted: true };
const delta = (id: string, text: string) => ({ type: `${id.split('-')[0]}-delta`, id, delta: text });
const start = (id: string) => ({ type: `${id.split('-')[0]}-start`, id });
const end = (id: string) => ({ type: `${id.split('-')[0]}-end`, id });

describe('the text of a message', () => {
  it('is one part until another begins', () => {
    const { parts, take } = setUp();
    expect(parts.isEmpty()).toBe(true);
    parts.say('text', '');
    expect([take(), parts.isEmpty()]).toEqual([[], true]);
    parts.say('reasoning', 'hm');
    parts.say('text', 'a');
    parts.say('text', 'b');
    expect(parts.isEmpty()).toBe(false);
    expect(take()).toEqual([
      ...[STEP, start('reasoning-1'), delta('reasoning-1', 'hm'), end('reasoning-1')],
      ...[start('text-2'), delta('text-2', 'a'), delta('text-2', 'b')],
    ]);
    parts.close();
    expect(take()).toEqual([end('text-2'), END_STEP]);
    parts.close();
    expect(take()).toEqual([]);
  });

  it('has a step for each round', () => {
    const { parts, take } = setUp();
    parts.startStep();
    expect([take(), parts.isEmpty()]).toEqual([[STEP], false]);
    parts.say('text', 'a');
    take();
    parts.startStep();
    expect(take()).toEqual([end('text-1'), END_STEP, STEP]);
  });

  it('is completed with what is missing', () => {
    const { parts, take } = setUp();
    parts.say('reasoning', 'hm');
    parts.say('text', 'ab');
    take();
    parts.catchUp('abcd');
    expect(take()).toEqual([delta('text-2', 'cd')]);
    parts.catchUp('abcd');
    expect(take()).toEqual([]);
    parts.catchUp('other');
    expect(take()).toEqual([end('text-2'), END_STEP, STEP, start('text-3'), delta('text-3', 'other')]);
    parts.catchUp('other!');
    expect(take()).toEqual([delta('text-3', '!')]);
  });

  it('continues a text that the reader has', () => {
    const { parts, take } = setUp({ text: 'ab', toolCallIds: new Map() });
    parts.catchUp('abc');
    expect(take()).toEqual([STEP, start('text-1'), delta('text-1', 'c')]);
  });

  it('of another attempt continues, or follows as a part of its own', () => {
    const { parts, take } = setUp();
    parts.say('text', 'ab');
    take();
    parts.restart('ab');
    expect(take()).toEqual([end('text-1'), END_STEP]);
    parts.restart('abc');
    expect(take()).toEqual([STEP, start('text-2'), delta('text-2', 'c')]);
    parts.catchUp('abcd');
    expect(take()).toEqual([delta('text-2', 'd')]);
    parts.restart('x');
    expect(take()).toEqual([end('text-2'), END_STEP, STEP, start('text-3'), delta('text-3', 'x')]);
    parts.catchUp('xy');
    expect(take()).toEqual([delta('text-3', 'y')]);
  });
});

describe('a tool call', () => {
  const toolCallId = 'm.1.c';
  const about = { toolCallId, toolName: 'search' };

  it('shows its input and its end', () => {
    const { parts, take } = setUp();
    parts.say('text', 'a');
    take();
    parts.startTool('c', 'search');
    expect(take()).toEqual([end('text-1'), { type: 'tool-input-start', ...about, ...SERVER }]);
    parts.addInput('c', '{"a":');
    parts.addInput('c', '');
    parts.addInput('other', 'x');
    parts.addInput('c', '1}');
    expect(take()).toEqual([
      { type: 'tool-input-delta', toolCallId, inputTextDelta: '{"a":' },
      { type: 'tool-input-delta', toolCallId, inputTextDelta: '1}' },
    ]);
    parts.endTool('c', false);
    expect(take()).toEqual([
      { type: 'tool-input-available', ...about, input: { a: 1 }, ...SERVER },
      { type: 'tool-output-available', toolCallId, output: null, ...SERVER },
    ]);
    parts.endTool('c', false);
    expect(take()).toEqual([]);
  });

  it('may fail, or never end', () => {
    const { parts, take } = setUp();
    parts.startTool('c', 'search');
    expect(take()[0]).toEqual(STEP);
    parts.addInput('c', 'broken');
    take();
    parts.endTool('c', true);
    expect(take()).toEqual([
      { type: 'tool-input-available', ...about, input: 'broken', ...SERVER },
      { type: 'tool-output-error', toolCallId, errorText: 'The tool failed.', ...SERVER },
    ]);
    parts.startTool('d', 'search');
    take();
    parts.close();
    expect(take()).toMatchObject([
      { type: 'tool-input-available', toolCallId: 'm.1.d' },
      { type: 'tool-output-error', toolCallId: 'm.1.d', errorText: 'The call did not end.' },
      END_STEP,
    ]);
  });

  it('of another attempt has another id', () => {
    const { parts, take } = setUp();
    parts.restart('');
    parts.startTool('c', 'search');
    expect(take()).toMatchObject([STEP, { toolCallId: 'm.2.c' }]);
  });

  it('of the page is run by the page', () => {
    const { parts, take } = setUp(undefined, ['ask']);
    parts.startTool('c', 'ask');
    const of = { toolCallId, toolName: 'ask', dynamic: true };
    expect(take()).toStrictEqual([STEP, { type: 'tool-input-start', ...of }]);
    parts.requestTool({ id: 'c', tool: 'ask', kind: 'answer', input: { a: 1 } } as never);
    expect(take()).toStrictEqual([{ type: 'tool-input-available', ...of, input: { a: 1 } }]);
    parts.close();
    expect(take()).toEqual([END_STEP]);
  });

  it('that needs a decision asks for it, once', () => {
    const { parts, take } = setUp();
    const call = { id: 'c', tool: 'search', kind: 'approval', input: { a: 1 } } as never;
    parts.requestTool(call);
    expect(take()).toEqual([
      ...[STEP, { type: 'tool-input-start', ...about, ...SERVER }],
      { type: 'tool-input-available', ...about, input: { a: 1 }, ...SERVER },
      { type: 'tool-approval-request', approvalId: 'm.c', toolCallId },
    ]);
    const shown = setUp({ text: '', toolCallIds: new Map([['c', 'm.1.c']]) });
    shown.parts.requestTool(call);
    expect(shown.take()).toEqual([]);
  });

  it.each([
    ['approve', [{ type: 'tool-output-available', toolCallId, output: null, ...SERVER }]],
    ['reject', [{ type: 'tool-output-denied', toolCallId }]],
    ['answer', []],
  ] as const)('that the page shows ends once: %s', (decision, chunks) => {
    const { parts, take } = setUp({ text: '', toolCallIds: new Map([['c', toolCallId]]) });
    parts.endShownTool('other', decision);
    expect(take()).toEqual([]);
    parts.endShownTool('c', decision);
    expect(take()).toEqual(chunks);
    parts.endShownTool('c', decision);
    expect(take()).toEqual([]);
  });
});

it('shows each source once, and files without names', () => {
  const { parts, take } = setUp();
  const source = { type: 'source-document', sourceId: 's', title: 'a' };
  parts.cite(source);
  parts.cite(source);
  expect(take()).toEqual([STEP, source]);
  const other = setUp();
  const file = { type: 'file', url: 'u', mediaType: 'a/b', providerMetadata: { a: 1 } };
  other.parts.addFile({ ...file, filename: 'n' });
  expect(other.take()).toStrictEqual([STEP, file]);
});
