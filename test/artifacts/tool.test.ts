import { describe, expect, it } from 'vitest';
import { type ChatAppOptions, createChatApp, sayAtOnce } from '../support/chat.ts';
import { callTool } from '../support/execution.ts';

const SCOPES = ['ai:chat', 'notebooks:read', 'notebooks:write'] as const;
const MADE = { type: 'html', title: 'A page', content: '<p>Hello</p>' };

/** A model that calls the artifact tool whenever it is offered, and a session. */
async function createStage(options: ChatAppOptions = {}) {
  const app = await createChatApp({
    key: { scopes: SCOPES },
    onCall(call) {
      const isOffered = call.request.tools?.some(({ name }) => name === 'create_artifact') === true;
      const isDone = JSON.stringify(call.request.messages).includes('tool_result');
      if (isOffered && !isDone) callTool(call, 'create_artifact', MADE);
      else sayAtOnce('Done.')(call);
    },
    ...options,
  });
  const sessionId = (await app.json('POST', '/api/v1/sessions', { body: { name: 'Work' } })).body.id;
  return {
    ...app,
    sessionId,
    turn: (more: object = {}) =>
      app.chat({ sessionId, message: 'Make one', enableTools: true, wait: true, ...more }),
    kept: async () => (await app.json('GET', '/api/v1/artifacts')).body.data,
    async run(more: object = {}) {
      const body = { session_id: sessionId, message: 'Make one', ...more };
      const { id } = (await app.json('POST', '/api/v1/agent-executions', { body })).body;
      const look = async () => (await app.json('GET', `/api/v1/agent-executions/${id}`)).body;
      while (['pending', 'running'].includes((await look()).status)) await app.settle();
      return look();
    },
  };
}

describe('artifact of a turn', () => {
  it('belongs to its user, is listed by the session and returned to the client', async () => {
    const stage = await createStage();
    const { body } = await stage.turn();
    const [artifact, ...others] = await stage.kept();
    expect([artifact, others]).toMatchObject([
      { type: 'html', title: 'A page', session_id: stage.sessionId },
      [],
    ]);
    const id = artifact?.id;
    expect(body.toolPayloads).toEqual([
      { type: 'artifact', payload: { id, type: 'html', title: 'A page', version: 1 } },
    ]);
    expect((await stage.json('GET', `/api/v1/artifacts/${id}`)).body.content).toBe(MADE.content);
    expect((await stage.json('GET', `/api/sessions/${stage.sessionId}`)).body.artifactIds).toEqual([id]);
  });

  it('is created once per call, however often the call is repeated', async () => {
    const { services, user, sessionId, account, kept } = await createStage();
    const context = {
      userId: user.id,
      sessionId,
      payer: { account, userId: user.id },
      callKey: 'quest:0',
      requestId: 'r',
      signal: new AbortController().signal,
    };
    const run = (input: object, callKey = 'quest:0') =>
      services.toolRegistry.run({ tool: 'create_artifact', input }, { ...context, callKey });
    await run(MADE);
    await run(MADE);
    await run({ ...MADE, content: 'another' });
    expect(await kept()).toMatchObject([{ version: 2 }]);
    await run(MADE, 'quest:1');
    expect(await kept()).toHaveLength(2);
    expect(await run({ ...MADE, type: 'lattice' })).toMatchObject({ isError: true });
  });

  it('is not offered while artifacts are disabled or to a turn without tools', async () => {
    const off = await createStage({
      settings: { admin: { DefaultAPIModel: 'scripted', EnableArtifacts: false } },
    });
    const { body } = await off.turn({ tools: ['create_artifact'] });
    expect(body.tools.unrecognizedTools).toEqual(['create_artifact']);
    expect(off.calls).toHaveLength(1);
    const stage = await createStage();
    await stage.turn({ enableTools: false });
    expect(await stage.kept()).toEqual([]);
  });
});

describe('artifact of a run', () => {
  it('is created when artifacts are enabled for the run or the run names the tool', async () => {
    const stage = await createStage();
    expect((await stage.run()).answer).toBe('Done.');
    expect(await stage.kept()).toEqual([]);
    await stage.run({ enable_artifacts: true });
    expect(await stage.kept()).toHaveLength(1);
    await stage.run({ tools: ['create_artifact'] });
    expect(await stage.kept()).toHaveLength(2);
  });
});

describe('table of a run', () => {
  const TABLE = {
    title: 'Hives',
    columns: ['hive', 'kilos'],
    rows: [
      ['A', 12.5],
      ['B', null],
    ],
  };

  /** The offered tools of a run and the result of the tool. */
  async function callTableTool(input: object, more: object, admin: object = {}) {
    const stage = await createStage({
      settings: { admin: { DefaultAPIModel: 'scripted', ...admin } },
      onCall(call) {
        const heard = call.request.messages.at(-1)?.content[0];
        const isOffered = call.request.tools?.some(({ name }) => name === 'create_lattice') === true;
        if (heard?.type === 'tool_result') sayAtOnce(heard.content)(call);
        else if (isOffered) callTool(call, 'create_lattice', input);
        else sayAtOnce('Not offered.')(call);
      },
    });
    return { stage, answer: (await stage.run(more)).answer };
  }

  it('is stored when the run requests it', async () => {
    const { stage, answer } = await callTableTool(TABLE, { enable_lattice: true });
    expect(answer).toBe('The artifact "Hives" is saved.');
    const [artifact] = await stage.kept();
    expect(artifact).toMatchObject({ type: 'lattice', title: 'Hives', session_id: stage.sessionId });
    const { content } = (await stage.json('GET', `/api/v1/artifacts/${artifact?.id}`)).body;
    expect(JSON.parse(content ?? '')).toEqual({ columns: TABLE.columns, rows: TABLE.rows });
  });

  it('is not offered otherwise or while artifacts are disabled', async () => {
    expect((await callTableTool(TABLE, {})).answer).toBe('Not offered.');
    expect((await callTableTool(TABLE, { enable_artifacts: true })).answer).toBe('Not offered.');
    const off = await callTableTool(TABLE, { enable_lattice: true }, { EnableArtifacts: false });
    expect(off.answer).toBe('Not offered.');
  });

  it('has rows of equal length', async () => {
    const { stage, answer } = await callTableTool(
      { ...TABLE, rows: [['A', 1], ['B']] },
      { enable_lattice: true },
    );
    expect(answer).toBe('rows.1: expected as many values as columns, 2');
    expect(await stage.kept()).toEqual([]);
  });
});
