import { describe, expect, it } from 'vitest';
import { budgetWithin } from './answer-room.ts';
import { readContentList } from './content-list.ts';
import { documentText } from './documents.ts';
import { chooseEffort } from './effort.ts';
import { fitEffort } from './effort-levels.ts';
import { firstLabel } from './fields.ts';
import { conversation, jsonInstruction } from './messages.ts';
import { isStrictSchema } from './strict-schema.ts';
import { checkGathered, isJsonObject } from './tool-arguments.ts';
import { failedVideo, getJobId, jobRecord, outputField, videoInProgress } from './video-jobs.ts';

describe('thinking budget', () => {
  it.each([
    ['leaves 1,000 tokens for the answer', [9000, 20_000, 1024], 8000],
    ['leaves a quarter of a small cap', [2000, 20_000, 1024], 1500],
    ['leaves a quarter, rounded up', [2001, 20_000, 1024], 1500],
    ['is what is wanted', [9000, 5000, 1024], 5000],
    ['is at least the smallest of the vendor', [9000, 10, 1024], 1024],
    ['is the smallest where just that fits', [1365, 20_000, 1023], 1023],
    ['is absent where not even that fits', [1365, 20_000, 1024], undefined],
  ] as const)('%s', (_title, [cap, wanted, least], budget) => {
    expect(budgetWithin(cap, wanted, least)).toBe(budget);
  });
});

describe('effort', () => {
  it.each([
    [1, 'low'],
    [4096, 'low'],
    [4097, 'medium'],
    [16_384, 'medium'],
    [16_385, 'high'],
  ])('for a budget of %i tokens is %s', (budgetTokens, effort) => {
    const request = { model: 'm', messages: [], maxTokens: 1 };
    expect(chooseEffort({ ...request, thinking: { budgetTokens } })).toBe(effort);
    expect(chooseEffort({ ...request, thinking: { budgetTokens }, reasoningEffort: 'none' })).toBe('none');
    expect(chooseEffort(request)).toBeUndefined();
  });

  it.each([
    ['low', undefined, 'low'],
    ['low', [], 'low'],
    ['low', ['low', 'high'], 'low'],
    ['none', ['low', 'high'], 'low'],
    ['minimal', ['none', 'low'], 'low'],
    ['minimal', ['low', 'none'], 'low'],
    ['medium', ['low', 'high'], 'high'],
    ['xhigh', ['none', 'medium'], 'medium'],
    ['xhigh', ['medium', 'none'], 'medium'],
    ['low', ['none', 'xhigh'], 'none'],
  ] as const)('%s of the levels %j is %s', (effort, levels, expected) => {
    expect(fitEffort(effort, levels)).toBe(expected);
  });
});

describe('schema for strict mode', () => {
  const closed = {
    type: 'object',
    properties: { a: { type: 'string' } },
    required: ['a'],
    additionalProperties: false,
  };

  it.each([
    closed,
    { type: 'object', required: [], additionalProperties: false },
    { type: 'string', description: 'x', default: null },
    { ...closed, properties: { a: closed } },
    { anyOf: [closed, { type: 'null' }] },
  ])('is closed, with every property required: %j', (schema) => {
    expect(isStrictSchema(schema)).toBe(true);
  });

  it.each([
    { ...closed, additionalProperties: undefined },
    { ...closed, additionalProperties: true },
    { ...closed, required: undefined },
    { ...closed, required: [] },
    { ...closed, properties: { a: {}, b: {} } },
    { properties: { a: {} } },
    { type: 'object' },
    { ...closed, properties: { a: { type: 'object' } } },
    { anyOf: [closed, { type: 'object' }] },
    { $defs: { a: { type: 'object' } } },
  ])('is no other one: %j', (schema) => {
    expect(isStrictSchema(schema)).toBe(false);
  });
});

describe('document', () => {
  const read = (mediaType: string) =>
    documentText({ type: 'document', name: 'a', mediaType, data: Buffer.from('ä').toString('base64') });

  it.each(['text/plain', 'TEXT/CSV; charset=utf-8', ' application/json ', 'application/xml;a=b'])(
    'of type %s is text',
    (mediaType) => {
      expect(read(mediaType)).toBe('ä');
    },
  );

  it.each(['application/pdf', 'application/jsonl', 'image/svg+xml', ''])(
    'of type %s is not text',
    (mediaType) => {
      expect(read(mediaType)).toBeUndefined();
    },
  );
});

describe('list of content', () => {
  it('is joined to a text and a thought', () => {
    const list = [
      'a',
      { type: 'text', text: 'b' },
      { type: 'output_text', text: 'c' },
      { type: 'refusal', refusal: 'd' },
      { type: 'reference' },
      { type: 'citation' },
      { type: 'annotation' },
      { type: 'thinking', thinking: [{ type: 'text', text: '1' }] },
      { type: 'reasoning', reasoning: '2' },
      { type: 'thinking', text: '3' },
    ];
    expect(readContentList(list)).toEqual({ text: 'abcd', thinking: '123' });
  });

  it.each([
    [{ type: 'refusal', refusal: 7 }, 'sent a refusal that is no string'],
    [{ type: 'thinking', thinking: 7 }, 'sent reasoning that is no string'],
    [{ type: 'x'.repeat(50) }, `sent content of a kind that is not known: ${'x'.repeat(40)}`],
    [7, 'sent content of a kind that is not known: without a type'],
  ])('is refused for %j', (part, message) => {
    expect(() => readContentList([part])).toThrow(
      expect.objectContaining({ kind: 'malformed_answer', message }),
    );
  });
});

describe('conversation of alternating turns', () => {
  const text = (value: string) => ({ type: 'text', text: value }) as const;

  it('joins the messages of one role, and keeps the marks of the cache', () => {
    const { system, turns } = conversation('vendor', [
      { role: 'user', content: [text('a')], cacheBreakpoint: false },
      { role: 'system', content: [text('s'), text('')] },
      { role: 'user', content: [text('b'), text('c')], cacheBreakpoint: true },
      { role: 'assistant', content: [text('d')], cacheBreakpoint: true },
    ]);
    expect(system).toEqual(['s']);
    expect(turns).toEqual([
      { role: 'user', content: [text('a'), text('b'), text('c')], breakpoints: [2] },
      { role: 'assistant', content: [text('d')], breakpoints: [0] },
    ]);
  });

  it('begins with a user, also after system messages', () => {
    const answer = { role: 'assistant', content: [text('d')] } as const;
    const { turns } = conversation('vendor', [{ role: 'system', content: [text('s')] }, answer]);
    expect(turns).toMatchObject([{ role: 'user', breakpoints: [] }, { role: 'assistant' }]);
    expect(conversation('vendor', []).turns).toEqual([]);
  });

  it('has an instruction for JSON, with the schema if there is one', () => {
    expect(jsonInstruction()).toMatch(/no code fence\.$/);
    expect(jsonInstruction({ type: 'object' })).toMatch(/JSON Schema: \{"type":"object"\}$/);
  });
});

describe('arguments of a call', () => {
  it.each([
    ['{}', true],
    ['{"a":1}', true],
    ['[]', false],
    ['null', false],
    ['7', false],
    ['{"a"', false],
  ])('are one JSON object: %s', (text, expected) => {
    expect(isJsonObject(text)).toBe(expected);
  });

  it('have at most 16 Mi characters', () => {
    expect(() => checkGathered(16 * 2 ** 20)).not.toThrow();
    expect(() => checkGathered(16 * 2 ** 20 + 1)).toThrow(
      expect.objectContaining({ kind: 'malformed_answer' }),
    );
  });
});

describe('label of an error', () => {
  it.each([
    [['', 'a b', '7a', 7, undefined, 'bad_one', 'other'], 'bad_one'],
    [['messages[0].role', 'x'], 'messages[0].role'],
    [[`a${'b'.repeat(79)}`], `a${'b'.repeat(79)}`],
    [[`a${'b'.repeat(80)}`], undefined],
  ])('is the first short name of %j', (values, label) => {
    expect(firstLabel(...values)).toBe(label);
  });
});

describe('video job', () => {
  it.each([
    ['moderation_blocked', undefined, 'blocked', 'moderation_blocked'],
    ['x', 'It violates our usage guidelines.', 'blocked', 'x: It violates our usage guidelines.'],
    [13, 'Internal', 'failed', 'Internal'],
    [undefined, undefined, 'failed', 'no reason given'],
  ])('that fails with %s and %s is %s', (code, message, state, said) => {
    expect(failedVideo(code, message)).toEqual({ state, message: said });
  });

  it.each([
    [0, { state: 'running', progress: 0 }],
    [50, { state: 'running', progress: 0.5 }],
    [100, { state: 'running', progress: 1 }],
    [101, { state: 'running' }],
    [-1, { state: 'running' }],
    ['50', { state: 'running' }],
  ])('that runs reports the progress %s', (percent, status) => {
    expect(videoInProgress('running', percent)).toEqual(status);
  });

  it('needs its fields', () => {
    expect(outputField({ id: 'a' }, 'id')).toBe('a');
    expect(() => outputField({ id: '' }, 'id')).toThrow('the result has no id');
    expect(getJobId({ id: 'a' }, 'id')).toBe('a');
    expect(() => getJobId({}, 'id')).toThrow('accepted the work without its id');
    expect(jobRecord({ id: 'a' })).toEqual({ id: 'a' });
    for (const answer of [undefined, null, [], 'a']) {
      expect(() => jobRecord(answer)).toThrow('the job response is not an object');
    }
  });
});
