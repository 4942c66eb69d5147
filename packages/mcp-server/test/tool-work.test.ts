import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../src/json-rpc.ts';
import { WrongArgument } from '../src/results.ts';
import type { ToolCall } from '../src/tools/tool.ts';
import { readTool, startTool, type Work } from '../src/tools/work.ts';
import { createCall } from './tool-calls.ts';

const SHOWN = { name: 't', title: 'T', description: 'Does it.', operations: ['o'] };
const TEXT = { properties: { text: { type: 'string' } }, required: ['text'] } as const;
const WAIT_FIELD = { wait_seconds: expect.objectContaining({ type: 'integer', minimum: 0 }) };

/** Work that ends with its first wait. */
function create(first: 'working' | 'completed' = 'working') {
  const waits: [string, number][] = [];
  const started: JsonObject[] = [];
  const work: Work = {
    kind: 'execution',
    read: 'readIt',
    cancel: 'cancelIt',
    getStatus: ({ state }) => (state === 'completed' ? 'completed' : 'working'),
    hasFailed: () => false,
    async wait(id, timeoutMs) {
      await turn();
      waits.push([id, timeoutMs]);
    },
    toResult: ({ state }) => ({ content: [{ type: 'text', text: String(state) }] }),
  };
  const context = createCall({ readIt: () => ({ state: waits.length === 0 ? first : 'completed' }) });
  const start = async (args: JsonObject): Promise<string> => {
    started.push(args);
    return 'w1';
  };
  return { work, waits, started, context, start };
}

const textOf = async (result: ReturnType<ReturnType<typeof startTool>['call']>): Promise<unknown> =>
  (await result).content[0];

describe('tool that starts work', () => {
  it('starts it with its own arguments, waits and returns its result', async () => {
    const { work, waits, started, context, start } = create();
    const tool = startTool({ ...SHOWN, work, fields: TEXT, start });
    expect(tool).toMatchObject({ ...SHOWN, isReadOnly: false, task: { work } });
    expect(tool.inputSchema).toEqual({
      type: 'object',
      properties: { ...TEXT.properties, ...WAIT_FIELD },
      required: ['text'],
      additionalProperties: false,
    });
    expect(await textOf(tool.call({ text: 'a' }, context))).toEqual({ type: 'text', text: 'completed' });
    await tool.call({ text: 'b', wait_seconds: 2 }, context);
    await tool.call({ text: 'c', wait_seconds: 0 }, context);
    await tool.call({ text: 'd', wait_seconds: 6 }, context);
    expect(started).toEqual([{ text: 'a' }, { text: 'b' }, { text: 'c' }, { text: 'd' }]);
    expect(waits).toEqual([
      ['w1', 5000],
      ['w1', 2000],
      ['w1', 0],
      ['w1', 5000],
    ]);
    expect(context.asked[0]).toEqual(['readIt', { params: { id: 'w1' } }]);
  });

  it('waits as a task only where the arguments ask for it', async () => {
    const { work, waits, started, context, start } = create();
    const { task } = startTool({ ...SHOWN, work, fields: TEXT, start });
    expect(await task?.start({ text: 'a' }, context)).toBe('w1');
    expect(await task?.start({ text: 'a', wait_seconds: 3 }, context)).toBe('w1');
    expect(waits).toEqual([
      ['w1', 0],
      ['w1', 3000],
    ]);
    expect(started).toHaveLength(2);
    expect(context.asked).toEqual([]);
  });

  it('does not wait for work that takes minutes, nor take a time to wait', async () => {
    const { work, waits, started, context, start } = create();
    const tool = startTool({ ...SHOWN, work, waits: false, fields: TEXT, start });
    expect(tool.inputSchema.properties).toEqual(TEXT.properties);
    expect(await textOf(tool.call({ text: 'a' }, context))).toEqual({ type: 'text', text: 'working' });
    await tool.task?.start({ text: 'a' }, context);
    expect([waits, started.length]).toEqual([[], 2]);
    await expect(tool.call({ text: 'a', wait_seconds: 1 }, context)).rejects.toThrow(
      'wait_seconds: unknown argument',
    );
  });

  it('starts nothing with wrong arguments', async () => {
    const { work, started, context, start } = create();
    const tool = startTool({ ...SHOWN, work, fields: TEXT, start });
    const begin = (args: JsonObject, given: ToolCall) => [
      tool.call(args, given),
      tool.task?.start(args, given) ?? Promise.resolve(),
    ];
    for (const wait_seconds of [-1, '1', null, Number.NaN]) {
      for (const call of begin({ text: 'a', wait_seconds }, context)) {
        await expect(call).rejects.toThrow(new WrongArgument('wait_seconds: expected a number of seconds'));
      }
    }
    for (const call of begin({ text: 'a', other: 1 }, context)) {
      await expect(call).rejects.toThrow(new WrongArgument('other: unknown argument'));
    }
    expect(started).toEqual([]);
  });
});

describe('tool that reads work', () => {
  const ID = { idName: 'work_id', idDescription: 'Its id.' };

  it('waits for the end of work that goes on', async () => {
    const { work, waits, context } = create();
    const tool = readTool({ ...SHOWN, ...ID, work });
    expect(tool).toMatchObject({ ...SHOWN, isReadOnly: true });
    expect(tool.inputSchema).toMatchObject({
      properties: { work_id: { type: 'string', description: 'Its id.' }, ...WAIT_FIELD },
      required: ['work_id'],
    });
    expect(await textOf(tool.call({ work_id: 'w1' }, context))).toEqual({ type: 'text', text: 'completed' });
    expect(waits).toEqual([['w1', 5000]]);
    expect(context.asked).toEqual([
      ['readIt', { params: { id: 'w1' } }],
      ['readIt', { params: { id: 'w1' } }],
    ]);
  });

  it.each([
    ['has ended', 'completed', {}, true],
    ['takes minutes', 'working', {}, false],
    ['is asked for without a wait', 'working', { wait_seconds: 0 }, true],
  ] as const)('does not wait for work that %s', async (_title, state, args, doesWait) => {
    const { work, waits, context } = create(state);
    const tool = readTool({ ...SHOWN, ...ID, work, waits: doesWait });
    expect(await textOf(tool.call({ work_id: 'w1', ...args }, context))).toEqual({
      type: 'text',
      text: state,
    });
    expect([waits, context.asked.length]).toEqual([[], 1]);
  });

  it('reads nothing with wrong arguments', async () => {
    const { work, context } = create();
    const tool = readTool({ ...SHOWN, ...ID, work });
    for (const [args, message] of [
      [{}, 'work_id: expected text'],
      [{ work_id: 7 }, 'work_id: expected text'],
      [{ work_id: 'w1', id: 'w1' }, 'id: unknown argument'],
      [{ work_id: 'w1', wait_seconds: -1 }, 'wait_seconds: expected a number of seconds'],
    ] as const) {
      await expect(tool.call(args, context)).rejects.toThrow(new WrongArgument(message));
    }
    expect(context.asked).toEqual([]);
    expect(readTool({ ...SHOWN, ...ID, work, waits: false }).inputSchema.properties).not.toHaveProperty(
      'wait_seconds',
    );
  });
});
