import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { evaluate } from '../features/tools/builtin/arithmetic.ts';
import { drawingTools } from '../features/tools/builtin/drawing.ts';
import { everydayTools } from '../features/tools/builtin/everyday.ts';
import { webTools } from '../features/tools/builtin/web.ts';
import type { ToolContext, ToolRegistry, ToolServerOffers } from './registry.ts';
import { answered, defineTool } from './tool.ts';
import { createToolbox, joinToolRegistries } from './toolbox.ts';

const scope = {
  userId: 'u',
  sessionId: 's',
  payer: { userId: 'u', account: 'user:u' },
} as unknown as ToolContext;
const context: ToolContext = { ...scope, callKey: 'c', requestId: 'r', signal: new AbortController().signal };

const services = { clock: createFakeClock(Date.UTC(2026, 10, 21, 12)), ids: createFakeIds() };
const toolbox = createToolbox([...everydayTools(services), ...drawingTools(), ...webTools({})]);
const run = (tool: string, input: unknown) => toolbox.run({ tool, input }, context);

describe('calculator', () => {
  it('computes an expression with the usual precedence', () => {
    const table: readonly [string, number][] = [
      ['1 + 2 * 3', 7],
      ['(1 + 2) * 3', 9],
      ['-2^2', -4],
      ['2^3^2', 512],
      ['2^-1', 0.5],
      ['10 % 4 - 1', 1],
      ['sqrt(16) + abs(-3)', 7],
      ['1.5e3 / .5', 3000],
      ['round(pi * 100)', 314],
      ['--3', 3],
    ];
    expect(table.map(([expression]) => [expression, evaluate(expression)])).toEqual(table);
  });

  it('executes no code, and reports why an expression has no value', async () => {
    for (const expression of [
      '1 +',
      'process.exit()',
      'constructor(1)',
      '1/0',
      '(1',
      '1 2',
      '__proto__',
      '('.repeat(400),
      '-'.repeat(400),
      '2^'.repeat(200),
    ]) {
      const { isError, content } = await run('calculator', { expression });
      expect([expression, isError]).toEqual([expression, true]);
      expect(content).toMatch(/^The expression cannot be computed: .+\.$/);
    }
  });
});

describe('built-in tools', () => {
  it('return the time in a selected zone', async () => {
    const { content } = await run('current_datetime', { time_zone: 'Asia/Tokyo' });
    expect(JSON.parse(content)).toMatchObject({ utc: '2026-11-21T12:00:00.000Z', time_zone: 'Asia/Tokyo' });
    expect(content).toContain('21:00:00');
    expect(await run('current_datetime', { time_zone: 'Mars/Olympus' })).toMatchObject({ isError: true });
  });

  it('roll fair dice and show them', async () => {
    const counts = new Map<number, number>();
    for (let index = 0; index < 60; index++) {
      const { content } = await run('dice_roll', { count: 100, sides: 6 });
      const { rolls } = JSON.parse(content) as { rolls: number[] };
      for (const roll of rolls) counts.set(roll, (counts.get(roll) ?? 0) + 1);
    }
    expect([...counts.keys()].sort()).toEqual([1, 2, 3, 4, 5, 6]);
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(150);
  });

  it('return diagrams and charts to the client, and only their names to the model', async () => {
    expect(await run('create_diagram', { source: 'graph TD; A-->B' })).toEqual({
      content: 'The diagram is shown to the user.',
      payload: { type: 'mermaid', payload: { source: 'graph TD; A-->B' } },
      isError: false,
    });
    const data = [{ month: 'May', sales: 3 }];
    const chart = await run('create_chart', { kind: 'bar', x: 'month', series: ['sales'], data });
    expect(chart.payload).toEqual({
      type: 'chart',
      payload: { kind: 'bar', x: 'month', series: ['sales'], data },
    });
  });

  it('report invalid arguments to the model', async () => {
    expect(await run('create_chart', { kind: 'cake', x: '', series: [], data: [] })).toMatchObject({
      isError: true,
    });
    expect((await run('dice_roll', { count: 0 })).content).toContain('count');
    expect(await run('no_such_tool', {})).toEqual({
      content: 'There is no tool no_such_tool.',
      isError: true,
    });
  });

  it('are offered when they fit the message, and web tools only when configured', async () => {
    const ids = async (message: string) => (await toolbox.select(message, scope)).map(({ id }) => id);
    expect(await ids('roll two dice')).toEqual(['dice_roll']);
    expect(await ids('what is 3 * 4?')).toEqual(['calculator']);
    expect(await ids('hello there')).toEqual([]);
    expect((await toolbox.list(scope)).map(({ id }) => id)).not.toContain('web_search');
  });
});

describe('combined registries', () => {
  it('use the first owner of an id', async () => {
    const tool = (id: string, says: string) =>
      defineTool({
        id,
        description: says,
        input: z.object({}),
        offered: 'default',
        run: () => answered(says),
      });
    const joined = joinToolRegistries([
      createToolbox([tool('a', 'first a')]),
      createToolbox([tool('a', 'second a'), tool('b', 'only b')]),
    ]);
    expect((await joined.list(scope)).map(({ id, schema }) => [id, schema.description])).toEqual([
      ['a', 'first a'],
      ['b', 'only b'],
    ]);
    expect((await joined.run({ tool: 'a', input: {} }, context)).content).toBe('first a');
    expect((await joined.run({ tool: 'b', input: {} }, context)).content).toBe('only b');
    expect((await joined.run({ tool: 'c', input: {} }, context)).isError).toBe(true);
    expect(() => createToolbox([tool('a', ''), tool('a', '')])).toThrow(RangeError);
  });

  it('omit a registry that cannot list its tools, and report the reason', async () => {
    const steady = createToolbox([
      defineTool({
        id: 'steady',
        description: 'Is there.',
        input: z.object({}),
        offered: 'default',
        fits: /./,
        run: () => answered('here'),
      }),
    ]);
    const away = new Error('the tool server is away');
    const rejecting: ToolRegistry = {
      list: () => Promise.reject(away),
      find: () => Promise.reject(away),
      select: () => {
        throw away;
      },
      run: () => Promise.reject(away),
    };
    for (const registries of [
      [steady, rejecting],
      [rejecting, steady],
    ]) {
      const errors: unknown[] = [];
      const joined = joinToolRegistries(registries, (error) => errors.push(error));
      expect((await joined.list(scope)).map(({ id }) => id)).toEqual(['steady']);
      expect((await joined.select('Hi', scope)).map(({ id }) => id)).toEqual(['steady']);
      expect(errors).toEqual([away, away]);
      expect(await joined.find('odd', scope)).toBeUndefined();
      expect((await joined.run({ tool: 'steady', input: {} }, context)).content).toBe('here');
      expect(errors.every((error) => error === away)).toBe(true);
    }
  });
});

describe('tool servers of several registries', () => {
  const SERVER: ToolServerOffers = { tools: [], url: 'https://tools.example.com' };

  it('are found in the first registry that knows them, and disconnected in all', async () => {
    const seen: string[] = [];
    const errors: unknown[] = [];
    const toRegistry = (name: string, known: readonly string[]): ToolRegistry => ({
      ...createToolbox([]),
      async listServer(id) {
        seen.push(`${name} ${id}`);
        if (id === 'broken') throw new Error('away');
        return known.includes(id) ? { ...SERVER, error: name } : undefined;
      },
      async disconnect(userId, id) {
        await Promise.resolve();
        seen.push(`${name} ends ${userId} ${id}`);
      },
    });
    const joined = joinToolRegistries(
      [createToolbox([]), toRegistry('a', ['x']), toRegistry('b', ['x', 'y'])],
      (error) => void errors.push(error),
    );
    expect((await joined.listServer?.('x', scope))?.error).toBe('a');
    expect((await joined.listServer?.('y', scope))?.error).toBe('b');
    expect(await joined.listServer?.('z', scope)).toBeUndefined();
    expect(await joined.listServer?.('broken', scope)).toBeUndefined();
    expect([seen.length, errors.length]).toEqual([7, 2]);
    await joined.disconnect?.('u', 'x');
    expect(seen.slice(7)).toEqual(['a ends u x', 'b ends u x']);
  });
});

it('offers a tool with its schema as models send it, and says what is wrong with an input', async () => {
  const toTool = (gated?: boolean) =>
    defineTool({
      ...{ id: 'greet', description: 'Greets.', offered: 'default', ...(gated !== undefined && { gated }) },
      input: z.strictObject({ name: z.string().default('you') }),
      run: async ({ name }) => answered(`Hello ${name}`),
    });
  expect(['gated' in toTool().offer, 'gated' in toTool(false).offer, toTool(true).offer.gated]).toEqual([
    false,
    false,
    true,
  ]);
  expect(toTool().offer.schema.parameters).not.toHaveProperty('required');
  const { content, isError } = await toTool().run('text', context);
  expect([content.startsWith('Invalid arguments: input: '), isError]).toEqual([true, true]);
  expect(await toTool().run({}, context)).toEqual(answered('Hello you'));
});
