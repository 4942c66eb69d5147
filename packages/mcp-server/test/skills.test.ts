import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { RpcError } from '../src/json-rpc.ts';
import { OperationRefused } from '../src/runner.ts';
import { getSkillEntry, isSkillUri, listSkillEntries, readSkillFile } from '../src/skills/extension.ts';
import { getPrompt, listPrompts } from '../src/skills/prompts.ts';
import { createCall } from './tool-calls.ts';

const SKILL = { id: 's', name: 'The S', description: 'For "it".', instructions: 'Do it.', for_models: true };
const URI = 'skill://s/SKILL.md';
const FILE = '---\nname: "s"\ndescription: "For \\"it\\"."\n---\n\n# The S\n\nDo it.\n';
const ENTRY = {
  uri: URI,
  frontmatter: { name: 's', description: 'For "it".' },
  resources: [
    { uri: URI, digest: `sha256:${createHash('sha256').update(FILE).digest('hex')}`, size: FILE.length },
  ],
};
const ABSENT = { code: -32602, message: 'Skill not found' };
const REFUSED = { code: -32000, message: 'no scopes', data: { status: 403 } };

const serve = (...skills: readonly object[]) =>
  createCall({ listServedSkills: { skills }, readServedSkill: { ...skills[0] } }).runner;
const refuse = () => {
  const refusal = new OperationRefused(403, 'no scopes', undefined);
  return createCall({ listServedSkills: refusal, readServedSkill: refusal }).runner;
};

describe('entries of skills', () => {
  it('are those whose id and description the format permits, and that models may load', async () => {
    const runner = serve(
      SKILL,
      { ...SKILL, id: 'a-1', description: 'x'.repeat(1024) },
      { ...SKILL, id: 'b', description: 'x'.repeat(1025) },
      { ...SKILL, id: 'c', description: '' },
      ...['-d', 'd-', 'd--e', 'd_e', 'D'].map((id) => ({ ...SKILL, id })),
      { ...SKILL, id: 'f', for_models: false },
    );
    const { skills } = await listSkillEntries({}, runner);
    expect(skills).toMatchObject([ENTRY, { uri: 'skill://a-1/SKILL.md' }]);
    expect(skills).toHaveLength(2);
  });

  it('come on one page', async () => {
    await expect(listSkillEntries({ cursor: 'x' }, serve(SKILL))).rejects.toMatchObject({ code: -32602 });
  });

  it('are read by their address', async () => {
    const call = createCall({ readServedSkill: SKILL });
    expect(await getSkillEntry({ uri: URI }, call.runner)).toEqual({ skill: ENTRY });
    expect(call.asked).toEqual([['readServedSkill', { params: { id: 's' } }]]);
  });

  it.each([
    ['no text', 7, SKILL],
    ['another address', 'skill://s/OTHER.md', SKILL],
    ['a skill that only users choose', URI, { ...SKILL, for_models: false }],
    ['a skill with an id that the format does not permit', URI, { ...SKILL, id: 's_t' }],
  ])('are unknown for %s', async (_title, uri, skill) => {
    await expect(getSkillEntry({ uri }, serve(skill))).rejects.toMatchObject(ABSENT);
  });

  it('are refused like their operations', async () => {
    await expect(listSkillEntries({}, refuse())).rejects.toMatchObject(REFUSED);
    await expect(getSkillEntry({ uri: URI }, refuse())).rejects.toMatchObject(REFUSED);
    const gone = createCall();
    await expect(listSkillEntries({}, gone.runner)).rejects.toMatchObject(ABSENT);
    await expect(getSkillEntry({ uri: URI }, gone.runner)).rejects.toMatchObject(ABSENT);
  });
});

describe('file of a skill', () => {
  const absent = (message: string): RpcError => new RpcError(-32002, `Resource: ${message}`);

  it('is Markdown with its name and description', async () => {
    expect(await readSkillFile(URI, serve(SKILL), absent)).toEqual({
      contents: [{ uri: URI, mimeType: 'text/markdown', text: FILE }],
    });
  });

  it('is unknown in the words of the caller', async () => {
    for (const [uri, skill] of [
      ['skill://s', SKILL],
      [URI, { ...SKILL, description: '' }],
      [URI, { ...SKILL, for_models: false }],
    ] as const) {
      await expect(readSkillFile(uri, serve(skill), absent)).rejects.toMatchObject({
        code: -32002,
        message: 'Resource: Skill not found',
      });
    }
  });

  it('has an address with an id', () => {
    expect(['skill://s/SKILL.md', `skill://${'a'.repeat(64)}/SKILL.md`].map(isSkillUri)).toEqual([
      true,
      true,
    ]);
    for (const uri of ['skill:///SKILL.md', 'skill://s/skill.md', 'xskill://s/SKILL.md', `${URI}x`])
      expect(isSkillUri(uri)).toBe(false);
  });
});

describe('prompts of skills', () => {
  it('are all skills, with the hint of each', async () => {
    const runner = serve({ ...SKILL, argument_hint: '[name]' }, { ...SKILL, id: 't', for_models: false });
    const shown = { title: 'The S', description: 'For "it".' };
    expect(await listPrompts({}, runner)).toEqual({
      prompts: [
        { ...shown, name: 's', arguments: [{ name: 'input', description: '[name]', required: false }] },
        { ...shown, name: 't', arguments: [{ name: 'input', description: 'The task.', required: false }] },
      ],
    });
    await expect(listPrompts({ cursor: 'x' }, runner)).rejects.toMatchObject({ code: -32602 });
  });

  it.each([
    [undefined, 'Follow the instructions of the skill "The S":\n\nDo it.'],
    [{}, 'Follow the instructions of the skill "The S":\n\nDo it.'],
    [{ input: '' }, 'Follow the instructions of the skill "The S":\n\nDo it.'],
    [{ input: 'Now' }, 'Follow the instructions of the skill "The S":\n\nDo it.\n\nNow'],
  ])('with the arguments %j are a message', async (args, text) => {
    const runner = serve({ ...SKILL, for_models: false });
    const params = args === undefined ? { name: 's' } : { name: 's', arguments: args };
    expect(await getPrompt(params, runner)).toEqual({
      description: 'For "it".',
      messages: [{ role: 'user', content: { type: 'text', text } }],
    });
  });

  it.each([
    [{}, 'name: expected text'],
    [{ name: 7 }, 'name: expected text'],
    [{ name: 's', arguments: 'x' }, 'arguments: expected an object'],
    [{ name: 's', arguments: null }, 'arguments: expected an object'],
    [{ name: 's', arguments: { ['k'.repeat(101)]: 'x' } }, `${'k'.repeat(100)}: unknown argument`],
    [{ name: 's', arguments: { input: 7 } }, 'input: expected text'],
  ])('are refused for %j', async (params, message) => {
    await expect(getPrompt(params, serve(SKILL))).rejects.toMatchObject({ code: -32602, message });
  });

  it('are refused like their operations', async () => {
    await expect(listPrompts({}, refuse())).rejects.toMatchObject(REFUSED);
    await expect(getPrompt({ name: 's' }, refuse())).rejects.toMatchObject(REFUSED);
    const absent = { code: -32602, message: 'Prompt not found' };
    await expect(listPrompts({}, createCall().runner)).rejects.toMatchObject(absent);
    await expect(getPrompt({ name: 's' }, createCall().runner)).rejects.toMatchObject(absent);
  });
});
