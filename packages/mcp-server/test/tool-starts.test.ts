import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { WrongArgument } from '../src/results.ts';
import { OperationRefused } from '../src/runner.ts';
import { askAgentTool } from '../src/tools/ask-agent.ts';
import { generateImageTool } from '../src/tools/images.ts';
import { listSkillsTool, readSkillTool } from '../src/tools/skills.ts';
import type { Routes } from '../src/tools/tool.ts';
import { generateVideoTool } from '../src/tools/videos.ts';
import { createCall, type FakeCall } from './tool-calls.ts';

const SKILL = { id: 's', name: 'S', description: 'For it.', instructions: 'Do it.', for_models: true };

/** Routes of the API with this body of an operation. */
const routesOf = (id: string, body: z.ZodObject, ...others: readonly string[]): Routes =>
  new Map([[id, { operation: { input: { body } } }], ...others.map((one) => [one, {}] as const)] as never);

describe('run of an agent', () => {
  const body = z.object({
    message: z.string(),
    session_id: z.string().optional(),
    model: z.string().optional(),
    secret: z.string().optional(),
  });
  const answers = { startAgentExecution: { id: 'e' }, createSession: { id: 'n' }, deleteSession: {} };
  const createTool = () => askAgentTool(routesOf('startAgentExecution', body, 'listServedSkills'));
  const start = async (args: object, call: FakeCall = createCall(answers)) => {
    const id = await createTool().task?.start({ ...args }, call);
    return { id, asked: call.asked };
  };

  it('has the arguments that help a client, and a skill where the server offers some', () => {
    const askAgent = createTool();
    expect(askAgent.operations).toEqual(['startAgentExecution', 'getAgentExecution', 'createSession']);
    expect(Object.keys(askAgent.inputSchema.properties as object)).toEqual([
      'message',
      'session_id',
      'model',
      'skill_id',
      'wait_seconds',
    ]);
    expect(askAgent.inputSchema.required).toEqual(['message']);
    const { inputSchema } = askAgentTool(routesOf('startAgentExecution', body));
    expect(inputSchema.properties).not.toHaveProperty('skill_id');
    expect(askAgentTool(new Map()).inputSchema).toMatchObject({ required: ['message'] });
  });

  it.each([
    ['Hello', 'Hello'],
    ['x'.repeat(61), 'x'.repeat(60)],
    [`${'x'.repeat(59)} y`, 'x'.repeat(59)],
    [`${'x'.repeat(59)}\u{1F600}`, `${'x'.repeat(59)}\ufffd`],
    ['  ', 'Question'],
  ])('creates a session for %j with the name %j', async (message, name) => {
    expect(await start({ message })).toEqual({
      id: 'e',
      asked: [
        ['createSession', { body: { name } }],
        ['startAgentExecution', { body: { message, session_id: 'n' }, isRepeatable: true }],
      ],
    });
  });

  it('uses the session of its arguments, which a refusal leaves', async () => {
    const args = { message: 'Hi', session_id: 's', model: 'm' };
    expect((await start(args, createCall(answers, { isRepeatable: true }))).asked).toEqual([
      ['startAgentExecution', { body: args, isRepeatable: true }],
    ]);
    const refused = createCall();
    await expect(start(args, refused)).rejects.toThrow('startAgentExecution is unknown');
    expect(refused.asked).toHaveLength(1);
  });

  it('deletes the session that it has created where it is refused', async () => {
    for (const deleteSession of [{}, new Error('no storage')]) {
      const call = createCall({ createSession: { id: 'n' }, deleteSession });
      await expect(start({ message: 'Hi' }, call)).rejects.toThrow('startAgentExecution is unknown');
      expect(call.asked.at(-1)).toEqual(['deleteSession', { params: { id: 'n' } }]);
    }
  });

  it('follows a skill', async () => {
    const call = createCall({ ...answers, readServedSkill: SKILL });
    const { asked } = await start({ message: 'Hi', skill_id: 's' }, call);
    expect(asked).toEqual([
      ['readServedSkill', { params: { id: 's' } }],
      ['createSession', { body: { name: 'Hi' } }],
      [
        'startAgentExecution',
        {
          body: {
            message: 'Follow the instructions of the skill "S":\n\nDo it.\n\nHi',
            session_id: 'n',
          },
          isRepeatable: true,
        },
      ],
    ]);
  });

  it.each([
    [{}, false, 'message: expected text'],
    [{ message: 7 }, false, 'message: expected text'],
    [{ message: 'Hi', skill_id: 7 }, false, 'skill_id: expected text'],
    [{ message: 'Hi', secret: 'x' }, false, 'secret: unknown argument'],
    [
      { message: 'Hi' },
      true,
      'session_id: required with an Idempotency-Key, so that a repeated call is the same',
    ],
  ])('is refused for %j (with a key: %s)', async (args, isRepeatable, message) => {
    const call = createCall(answers, { isRepeatable });
    await expect(start(args, call)).rejects.toThrow(new WrongArgument(message));
    expect(call.asked).toEqual([]);
  });
});

describe('tools for skills', () => {
  const call = () =>
    createCall({
      listServedSkills: { skills: [SKILL, { ...SKILL, id: 'u', for_models: false }] },
      readServedSkill: SKILL,
    });

  it('list them without their instructions', async () => {
    expect((await listSkillsTool.call({}, call())).structuredContent).toEqual({
      skills: [{ id: 's', name: 'S', description: 'For it.' }],
    });
    await expect(listSkillsTool.call({ x: 1 }, call())).rejects.toThrow('x: unknown argument');
  });

  it('read one', async () => {
    const { for_models: _, ...shown } = SKILL;
    expect((await readSkillTool.call({ skill_id: 's' }, call())).structuredContent).toEqual(shown);
    const hidden = createCall({ readServedSkill: { ...SKILL, for_models: false } });
    await expect(readSkillTool.call({ skill_id: 's' }, hidden)).rejects.toThrow(
      new OperationRefused(404, 'Skill not found', undefined),
    );
    for (const args of [{}, { skill_id: 7 }]) {
      await expect(readSkillTool.call(args, call())).rejects.toThrow('skill_id: expected text');
    }
    await expect(readSkillTool.call({ skill_id: 's', x: 1 }, call())).rejects.toThrow('x: unknown argument');
  });
});

describe('generation of an image', () => {
  const body = z.object({ prompt: z.string(), model: z.string(), size: z.string(), secret: z.string() });
  const createTool = () => generateImageTool(routesOf('generateImage', body));

  /** Services with this default model, which are asked for the models of the caller. */
  const createServices = (usual: string | null, allowed: readonly string[]) => ({
    adminSettings: { current: async () => ({ DefaultImageModel: usual, enforceCredits: true }) },
    getCatalogue: async ({ userId }: { userId: string }) => ({
      isAllowed: (id: string) => userId === 'u' && allowed.includes(id),
      list: () => [],
    }),
  });

  it('has the arguments that help a client', () => {
    const tool = createTool();
    expect(Object.keys(tool.inputSchema.properties as object)).toEqual([
      'prompt',
      'model',
      'size',
      'wait_seconds',
    ]);
    expect([tool.inputSchema.required, tool.operations]).toEqual([['prompt'], ['generateImage', 'getQuest']]);
    expect(generateImageTool(new Map()).inputSchema).toMatchObject({ required: ['prompt'] });
  });

  it('uses the model of its arguments, or the one of the server', async () => {
    const call = createCall({ generateImage: { id: 'q' } }, { services: createServices('usual', ['usual']) });
    expect(await createTool().task?.start({ prompt: 'A', model: 'm', size: '1' }, call)).toBe('q');
    expect(await createTool().task?.start({ prompt: 'A' }, call)).toBe('q');
    expect(call.asked).toEqual([
      ['generateImage', { body: { prompt: 'A', model: 'm', size: '1' }, isRepeatable: true }],
      ['generateImage', { body: { prompt: 'A', model: 'usual' }, isRepeatable: true }],
    ]);
  });

  it.each([null, 'usual'])(
    'is refused without a model that the caller may use (default: %j)',
    async (usual) => {
      const call = createCall({ generateImage: { id: 'q' } }, { services: createServices(usual, []) });
      await expect(createTool().task?.start({ prompt: 'A' }, call)).rejects.toThrow(
        new WrongArgument('There is no image model on this server.'),
      );
      expect(call.asked).toEqual([]);
    },
  );
});

it('generation of a video has the arguments of its operation, and does not wait', async () => {
  const body = z.object({ prompt: z.string(), seconds: z.number().optional() });
  const tool = generateVideoTool(routesOf('createVideoGeneration', body));
  expect(tool.operations).toEqual(['createVideoGeneration', 'getVideoGeneration', 'listVideoModels']);
  expect(tool.inputSchema).toMatchObject({ required: ['prompt'], additionalProperties: false });
  expect(Object.keys(tool.inputSchema.properties as object)).toEqual(['prompt', 'seconds']);
  expect(generateVideoTool(new Map()).inputSchema).toMatchObject({ properties: {}, required: [] });
  const call = createCall({
    createVideoGeneration: { id: 'g' },
    getVideoGeneration: { id: 'g', state: 'queued' },
  });
  expect((await tool.call({ prompt: 'A', seconds: 4 }, call)).structuredContent).toMatchObject({
    generation_id: 'g',
    state: 'queued',
  });
  expect(call.asked).toEqual([
    ['createVideoGeneration', { body: { prompt: 'A', seconds: 4 }, isRepeatable: true }],
    ['getVideoGeneration', { params: { id: 'g' } }],
  ]);
});
