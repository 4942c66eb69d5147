import { describe, expect, it } from 'vitest';
import { PAYER, PLAIN, S, setUp } from '../../../test/chat-acceptance.ts';
import { AGENTS } from '../agents/records.ts';

describe('the request of a turn', () => {
  it.each<[string, object, object]>([
    ['a temperature', { temperature: 0 }, { temperature: 0 }],
    ['a history', { historyCount: 2.5 }, { historyCount: 3 }],
    ['a prompt mode', { promptMode: 'raw' }, { promptMode: 'raw' }],
    ['a system prompt, without its text', { systemPrompt: 'Secret' }, { hasSystemPrompt: true }],
    ['details of the prompt', { includePromptDetails: true }, { showsPrompt: { details: true } }],
    ['the text of the prompt', { includeSystemPrompt: true }, { showsPrompt: { text: true } }],
    [
      'both of the prompt',
      { includePromptDetails: true, includeSystemPrompt: true },
      { showsPrompt: { details: true, text: true } },
    ],
    ['nothing of the prompt', { includePromptDetails: false, includeSystemPrompt: false }, {}],
    ['approvals', { approvals: true }, { approvals: true }],
    ['no approvals', { approvals: false }, {}],
    ['no files', { fileIds: [] }, {}],
    [
      'features',
      { enableMementos: true },
      { features: { questMaster: false, mementos: true, agents: false }, remembers: true },
    ],
  ])('has %s', async (_, body, more) => {
    const { toRequest } = await setUp();
    expect(await toRequest(body)).toStrictEqual({ ...PLAIN, ...more });
  });

  it('has the temperature of the session where it names none', async () => {
    const { toRequest } = await setUp({ session: { temperature: 0.5 } });
    expect(await toRequest()).toMatchObject({ temperature: 0.5 });
    expect(await toRequest({ temperature: 1 })).toMatchObject({ temperature: 1 });
  });

  it('has its cap, and reports one that the model lowers', async () => {
    const { run, toRequest } = await setUp();
    const { isCapOurs: _, ...own } = PLAIN;
    expect(await toRequest({ maxTokens: 7.9 })).toStrictEqual({ ...own, maxTokens: 7 });
    expect((await run({ maxTokens: 7.9 })).answer).not.toHaveProperty('maxTokens');
    expect((await run({ maxTokens: 500 })).answer).not.toHaveProperty('maxTokens');
    expect((await run({ maxTokens: 501 })).answer).toMatchObject({ maxTokens: 500 });
    expect((await run()).answer).not.toHaveProperty('maxTokens');
  });

  it('has each clean file once', async () => {
    const { toRequest, run, checked } = await setUp();
    expect(await toRequest({ fileIds: ['clean', 'clean'] })).toMatchObject({ fileIds: ['clean'] });
    expect(checked).toEqual([['ada', ['clean']]]);
    await run({ fileIds: [] });
    expect(checked).toHaveLength(1);
    await expect(run({ fileIds: ['other'] })).rejects.toMatchObject({ status: 404 });
  });
});

describe('the tools of a turn', () => {
  const clientTools = [{ name: 'mine', description: '', parameters: {} }];

  it('are those that are asked for', async () => {
    const { run, toRequest, scopes } = await setUp({ session: { maxToolCalls: 2.5 } });
    const tools = ['tool1', 'unknown'];
    expect(await toRequest({ tools })).toStrictEqual({ ...PLAIN, tools: ['tool1'], maxToolCalls: 3 });
    expect(scopes[0]).toEqual({ userId: 'ada', sessionId: S, payer: PAYER });
    expect((await run({ tools })).answer.tools).toEqual({
      ...{ autoSelectedTools: [], effectiveTools: ['tool1'], unrecognizedTools: ['unknown'] },
    });
    expect(await toRequest({ tools: ['unknown'] })).toStrictEqual(PLAIN);
    expect(await toRequest()).toStrictEqual(PLAIN);
    expect((await run()).answer).not.toHaveProperty('tools');
    expect(await toRequest({ tools, model: 'simple' })).not.toHaveProperty('tools');
  });

  it('may be those of the client', async () => {
    const { run, toRequest, scopes } = await setUp({ session: { maxToolCalls: 2 } });
    const body = { clientTools, approvals: true };
    const own = { ...PLAIN, approvals: true };
    expect(await toRequest(body)).toStrictEqual({ ...own, clientTools, maxToolCalls: 2 });
    expect(scopes[0]).toEqual({ userId: 'ada', sessionId: S, payer: PAYER });
    expect(await toRequest({ ...body, model: 'simple' })).toStrictEqual({ ...own, model: 'simple' });
    expect(await toRequest({ ...body, clientTools: [] })).toStrictEqual(own);
    await expect(run({ clientTools })).rejects.toMatchObject({ status: 422 });
    await expect(run({ ...body, clientTools: [{ name: 'tool1' }] })).rejects.toMatchObject({ status: 422 });
  });

  it('may call as often as usual where the session has no limit', async () => {
    const { toRequest, scopes } = await setUp();
    await toRequest();
    expect(scopes).toEqual([]);
    expect(await toRequest({ tools: ['tool1'] })).toStrictEqual({ ...PLAIN, tools: ['tool1'] });
  });
});

describe('a mentioned agent', () => {
  const agent = {
    ...{
      id: 'agent',
      ownerId: 'ada',
      name: 'Otto',
      description: '',
      triggerWords: ['@otto'],
      capabilities: [],
    },
    ...{ isPublic: false, personality: {}, createdAt: 1, updatedAt: 1 },
    ...{ preferredModel: 'simple', temperature: 0.3, maxTokens: 9, deniedTools: ['tool2'] },
  };
  const mention = { message: 'Ask @otto', enableAgents: true };

  it('decides about what the request leaves open', async () => {
    const { toRequest, services } = await setUp({ session: { temperature: 0.5 } });
    await services.store.collection(AGENTS).insert(agent as never);
    const { isCapOurs: _, ...own } = PLAIN;
    const features = { questMaster: false, mementos: false, agents: true };
    const chosen = { ...own, message: mention.message, features, temperature: 0.3, maxTokens: 9 };
    expect(await toRequest(mention)).toStrictEqual({ ...chosen, model: 'simple' });
    expect(await toRequest({ ...mention, model: 'plain', maxTokens: 8, temperature: 1 })).toStrictEqual({
      ...{ ...chosen, model: 'plain', maxTokens: 8, temperature: 1 },
    });
    const tools = ['tool1', 'tool2'];
    expect(await toRequest({ ...mention, model: 'plain', tools })).toStrictEqual({
      ...{ ...chosen, model: 'plain', tools: ['tool1'], toolLimits: { denied: ['tool2'] } },
    });
  });

  it('of another user decides when it is attached to the session', async () => {
    const { toRequest } = await setUp({ attached: [agent] });
    expect(await toRequest(mention)).toMatchObject({ model: 'simple' });
  });

  it('is consulted only with the feature and a trigger word', async () => {
    const { toRequest, services } = await setUp();
    await services.store.collection(AGENTS).insert(agent as never);
    expect(await toRequest({ message: mention.message })).toStrictEqual({
      ...PLAIN,
      message: mention.message,
    });
    expect(await toRequest({ enableAgents: true })).toMatchObject({ model: 'plain', maxTokens: 500 });
  });
});
