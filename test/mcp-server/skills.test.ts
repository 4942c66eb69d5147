import { createHash } from 'node:crypto';
import type { Skill } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { sayAtOnce } from '../support/chat.ts';
import { askModern, callTool, createMcpApp, type McpApp, readJson, rpc } from './support.ts';

const SKILLS: readonly Skill[] = [
  {
    id: 'business-letter',
    name: 'Business letter',
    description: 'Use it to write a letter: to a "company".\nNot to a friend.',
    instructions: 'Begin with place and date.',
    argumentHint: '[recipient]',
    listed: true,
  },
  { id: 'old_style', name: 'Old style', description: 'Old.', instructions: 'Thou.', listed: true },
  {
    id: 'refund',
    name: 'Refund',
    description: 'Only on request.',
    instructions: 'Ask for the receipt.',
    listed: true,
    disableModelInvocation: true,
  },
  { id: 'hidden', name: 'Hidden', description: 'Hidden.', instructions: 'The secret recipe.' },
];

const LETTER = 'skill://business-letter/SKILL.md';
const EXTENSION = 'io.modelcontextprotocol/skills';

const createSkillApp = (options: Parameters<typeof createMcpApp>[0] = {}): Promise<McpApp> =>
  createMcpApp({ ...options, settings: { skills: SKILLS } });

describe('skills over the official client', () => {
  it('are listed without their instructions, and read', async () => {
    const client = await (await createSkillApp()).connect();
    const listed = await callTool(client, 'list_skills');
    expect(listed.value.skills).toEqual([
      {
        id: 'business-letter',
        name: 'Business letter',
        description: SKILLS[0]?.description,
        argument_hint: '[recipient]',
      },
      { id: 'old_style', name: 'Old style', description: 'Old.' },
    ]);
    expect((await callTool(client, 'read_skill', { skill_id: 'old_style' })).value).toEqual({
      id: 'old_style',
      name: 'Old style',
      description: 'Old.',
      instructions: 'Thou.',
    });
    const unknown = await Promise.all(
      // A skill that the host hides from models, and one that is not listed, are like one that does not exist.
      ['none', 'hidden', 'refund', '', '../files'].map((id) =>
        callTool(client, 'read_skill', { skill_id: id }),
      ),
    );
    expect(new Set(unknown.map(({ isError, text }) => `${isError} ${text}`))).toEqual(
      new Set(['true Skill not found']),
    );
    for (const args of [{}, { skill_id: 7 }, { skill_id: 'refund', more: 1 }]) {
      expect((await callTool(client, 'read_skill', args)).isError).toBe(true);
    }
  });

  it('are prompts, for users to choose', async () => {
    const client = await (await createSkillApp()).connect();
    expect(client.getServerCapabilities()).toMatchObject({ tools: {}, resources: {}, prompts: {} });
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(['business-letter', 'old_style', 'refund']);
    expect(prompts[0]).toEqual({
      name: 'business-letter',
      title: 'Business letter',
      description: SKILLS[0]?.description,
      arguments: [{ name: 'input', description: '[recipient]', required: false }],
    });
    const textOf = async (name: string, args?: Record<string, string>) => {
      const { messages } = await client.getPrompt({ name, ...(args && { arguments: args }) });
      return messages.map(({ role, content }) => [role, content.type === 'text' && content.text]);
    };
    expect(await textOf('refund')).toEqual([
      ['user', 'Follow the instructions of the skill "Refund":\n\nAsk for the receipt.'],
    ]);
    expect(await textOf('refund', { input: 'For Ada' })).toEqual([
      ['user', 'Follow the instructions of the skill "Refund":\n\nAsk for the receipt.\n\nFor Ada'],
    ]);
    for (const name of ['hidden', 'none', '']) {
      await expect(client.getPrompt({ name })).rejects.toMatchObject({
        code: -32602,
        message: expect.stringContaining('Prompt not found'),
      });
    }
    await expect(client.getPrompt({ name: 'refund', arguments: { other: 'x' } })).rejects.toMatchObject({
      code: -32602,
    });
  });

  it('are followed by the run of an agent, which is charged', async () => {
    const said: string[] = [];
    const app = await createSkillApp({
      onCall(call) {
        said.push(JSON.stringify(call.request.messages));
        sayAtOnce('Dear Sir.')(call);
      },
    });
    const client = await app.connect();
    const { value, isError } = await callTool(client, 'ask_agent', {
      message: 'To the bank',
      skill_id: 'business-letter',
    });
    expect([isError, value.answer]).toEqual([false, 'Dear Sir.']);
    expect(said[0]).toContain('Begin with place and date.');
    expect(said[0]).toContain('To the bank');
    const { available, held } = await app.ledger.balance(app.account);
    expect([1000e6 - available > 0, held]).toEqual([true, 0]);
    const sessions = (await callTool(client, 'list_sessions')).value.data;
    expect(sessions).toMatchObject([{ name: 'To the bank' }]);
    for (const id of ['hidden', 'refund', 'none']) {
      const refused = await callTool(client, 'ask_agent', { message: 'Hi', skill_id: id });
      expect([id, refused.isError, refused.text]).toEqual([id, true, 'Skill not found']);
    }
    expect((await callTool(client, 'ask_agent', { message: 'Hi', skill_id: 7 })).isError).toBe(true);
    expect((await callTool(client, 'list_sessions')).value.data).toHaveLength(1);
    expect(said).toHaveLength(1);
  });

  it('need the scopes of the API', async () => {
    const app = await createSkillApp();
    const client = await app.connect(await app.keyOf(app.user.id, ['notebooks:read']));
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).not.toContain('list_skills');
    expect(names).not.toContain('read_skill');
    for (const [name, args] of [
      ['list_skills', {}],
      ['read_skill', { skill_id: 'refund' }],
    ] as const) {
      expect((await callTool(client, name, args)).text).toMatch(/does not have the scopes/);
    }
    await expect(client.listPrompts()).rejects.toMatchObject({ code: -32000 });
    await expect(client.getPrompt({ name: 'refund' })).rejects.toMatchObject({ code: -32000 });
    await expect(client.readResource({ uri: LETTER })).rejects.toMatchObject({ code: -32000 });
  });
});

describe('the extension for skills', () => {
  it('has entries whose digests are those of the files', async () => {
    const app = await createSkillApp();
    const { result: discovered } = await askModern(app, 'server/discover');
    expect(discovered.capabilities).toMatchObject({ resources: {}, extensions: { [EXTENSION]: {} } });
    const { result } = await askModern(app, 'skills/list');
    expect(result).toMatchObject({ resultType: 'complete', ttlMs: 0, cacheScope: 'private' });
    // Names of the format have no underscore, and hosts let models choose among entries.
    expect(result.skills.map(({ uri }) => uri)).toEqual([LETTER]);
    const [entry] = result.skills;
    expect((await askModern(app, 'skills/get', { uri: LETTER })).result.skill).toEqual(entry);
    const read = await askModern(app, 'resources/read', { uri: LETTER });
    const [{ text = '', mimeType, uri } = {}] = read.result.contents;
    expect([mimeType, uri]).toEqual(['text/markdown', LETTER]);
    expect(entry?.resources).toEqual([
      {
        uri: LETTER,
        digest: `sha256:${createHash('sha256').update(text).digest('hex')}`,
        size: Buffer.byteLength(text),
      },
    ]);
    const [, frontmatter = '', body] = /^---\n(.*?)---\n\n(.*)$/s.exec(text) ?? [];
    // Each value is JSON, which YAML contains.
    const fields = frontmatter
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/: (.*)/s));
    expect(Object.fromEntries(fields.map(([name, value = '']) => [name, JSON.parse(value)]))).toEqual(
      entry?.frontmatter,
    );
    expect(entry?.frontmatter).toEqual({ name: 'business-letter', description: SKILLS[0]?.description });
    expect(body).toBe('# Business letter\n\nBegin with place and date.\n');
  });

  it('knows no other skills', async () => {
    const app = await createSkillApp();
    for (const name of ['hidden', 'refund', 'old_style', 'none', '..']) {
      const uri = `skill://${name}/SKILL.md`;
      for (const method of ['skills/get', 'resources/read']) {
        const { error } = await askModern(app, method, { uri });
        expect([method, uri, error?.code]).toEqual([method, uri, -32602]);
      }
    }
    expect((await askModern(app, 'skills/get', { uri: 7 })).error.code).toBe(-32602);
    expect((await askModern(app, 'skills/list', { cursor: 'x' })).error.code).toBe(-32602);
    expect((await readJson(await app.send(rpc('skills/list')))).error.code).toBe(-32601);
    expect(app.incidents).toEqual([]);
  });

  it('is absent where the host lists no skill, or leaves the operation out', async () => {
    for (const app of [
      await createMcpApp({ settings: { skills: SKILLS.slice(3) } }),
      await createMcpApp({ settings: { skills: SKILLS }, mcp: { operations: { without: ['listSkills'] } } }),
    ]) {
      const { result } = await askModern(app, 'server/discover');
      expect(result.capabilities).not.toHaveProperty('prompts');
      expect(result.capabilities.extensions).not.toHaveProperty([EXTENSION]);
      for (const method of ['prompts/list', 'prompts/get', 'skills/list', 'skills/get']) {
        expect((await askModern(app, method, { name: 'refund' })).error.code).toBe(-32601);
      }
      const client = await app.connect();
      expect((await callTool(client, 'ask_agent', { message: 'Hi', skill_id: 'refund' })).isError).toBe(true);
    }
  });
});

describe('messages that fail before an operation', () => {
  it('count against the limits', async () => {
    const app = await createSkillApp();
    const { key } = await app.issue({ scopes: ['ai:chat'], requestsPerMinute: 3 });
    const send = (method: string, params: object) =>
      app.send(rpc(method, params), { Authorization: `Bearer ${key}` });
    expect((await send('resources/read', { uri: 'none://x' })).status).toBe(200);
    expect((await send('prompts/get', { name: 7 })).status).toBe(200);
    expect((await send('resources/list', { cursor: 7 })).status).toBe(200);
    expect((await send('resources/read', { uri: 'none://x' })).status).toBe(429);
  });
});
