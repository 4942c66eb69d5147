import { answered, createToolbox, defineTool, type Settings, type Skill } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { addAgent } from '../support/agents.ts';
import { answerParts, type ChatApp, createChatApp } from '../support/chat.ts';
import { callTool, createExecutionApp } from '../support/execution.ts';
import type { ModelCall } from '../support/model.ts';

const LETTER: Skill = {
  id: 'business-letter',
  name: 'Business letter',
  description: 'Use it when a letter to a company is wanted.',
  instructions: 'Begin with the date. End with "Yours sincerely".',
  tools: ['stamp', 'seal', 'odd'],
};
const HAIKU: Skill = {
  id: 'haiku',
  name: 'Haiku',
  description: 'Use it for short poems.',
  instructions: 'Five, seven, five.',
};

const tool = (id: string, gated = false) =>
  defineTool({
    id,
    description: `Does ${id}.`,
    input: z.object({}),
    offered: 'requested',
    gated,
    run: () => answered('done'),
  });

const SETTINGS: Partial<Settings> = {
  skills: [LETTER, HAIKU],
  tools: [createToolbox([tool('stamp'), tool('seal', true)])],
  admin: { DefaultAPIModel: 'scripted' },
};

const offeredTo = (call: ModelCall | undefined): string[] =>
  (call?.request.tools ?? []).map(({ name }) => name);

const toResult = (call: ModelCall | undefined) => {
  const part = call?.request.messages.at(-1)?.content[0];
  return part?.type === 'tool_result' ? part : undefined;
};

/** Loads a skill, then answers. */
function loading(skill: string): (call: ModelCall) => void {
  return (call) => {
    if (toResult(call) === undefined && offeredTo(call).includes('use_skill')) {
      callTool(call, 'use_skill', { skill });
    } else {
      call.say(...answerParts('Dear Sirs'));
      call.end();
    }
  };
}

const ask = async (app: ChatApp, body: object) =>
  (await app.chat({ message: 'Write to the bank', wait: true, enableMementos: false, ...body })).body;

describe('skills', () => {
  it('are listed by name and description, with instructions only on request', async () => {
    const app = await createChatApp({ settings: SETTINGS, onCall: loading('business-letter') });
    const body = await ask(app, { enableTools: true });
    expect(body.tools.autoSelectedTools).toContain('use_skill');
    const [first, second] = app.calls;
    const offer = first?.request.tools?.find(({ name }) => name === 'use_skill');
    for (const { id, name, description } of [LETTER, HAIKU]) {
      expect(offer?.description).toContain(`${id} (${name}): ${description}`);
    }
    const atFirst = [first?.request.tools, first?.request.messages.slice(0, 2)];
    expect(JSON.stringify(atFirst)).not.toContain('Yours sincerely');
    expect(toResult(second)).toMatchObject({ isError: false });
    expect(toResult(second)?.content).toContain(LETTER.instructions);
    expect(JSON.stringify(second?.request)).not.toContain(HAIKU.instructions);
    expect(body.response).toBe('Dear Sirs');
  });

  it('add the tools they name except gated, unknown and denied ones', async () => {
    const app = await createChatApp({ settings: SETTINGS, onCall: loading('business-letter') });
    await ask(app, { enableTools: true });
    expect(offeredTo(app.calls[0])).not.toContain('stamp');
    expect(offeredTo(app.calls[1])).toContain('stamp');
    expect(offeredTo(app.calls[1])).not.toContain('seal');
    const { body: session } = await app.json('POST', '/api/v1/sessions', {
      body: { name: 'x', disabledTools: ['stamp'] },
    });
    await ask(app, { enableTools: true, sessionId: session.id });
    expect(offeredTo(app.calls[3])).not.toContain('stamp');
  });

  it('add a gated tool where the client approves its calls', async () => {
    const app = await createChatApp({ settings: SETTINGS, onCall: loading('business-letter') });
    await ask(app, { enableTools: true, approvals: true });
    expect(offeredTo(app.calls[0])).not.toContain('seal');
    expect(offeredTo(app.calls[1])).toEqual(expect.arrayContaining(['stamp', 'seal']));
  });

  it.each([
    ['may use it', { deniedTools: ['seal'] }, true],
    ['may use only other tools', { allowedTools: ['use_skill'] }, false],
    ['may not use it', { deniedTools: ['stamp'] }, false],
  ])('add a tool if the mentioned agent %s', async (_name, limits, offered) => {
    const app = await createChatApp({
      settings: { ...SETTINGS, admin: { ...SETTINGS.admin, EnableAgents: true } },
      onCall: loading('business-letter'),
    });
    await addAgent(app, { id: 'a'.repeat(24), name: 'Otto', ...limits });
    await ask(app, { message: 'Write, @otto', enableTools: true, enableAgents: true });
    expect(offeredTo(app.calls[0])).toContain('use_skill');
    expect(offeredTo(app.calls[1]).includes('stamp')).toBe(offered);
  });

  it.each([
    ['the default tools', { enableTools: true }, true],
    ['named tools', { tools: ['stamp'] }, true],
    ['smart, when the message names one', { toolMode: 'smart', message: 'A haiku, please' }, true],
    ['smart, when the message names none', { toolMode: 'smart' }, false],
    ['named by id', { tools: ['use_skill'], skip_auto_offers: true }, true],
    ['no tool option', {}, false],
    ['fast', { toolMode: 'fast' }, false],
    ['no automatic offers', { enableTools: true, skip_auto_offers: true }, false],
    [
      'smart without automatic offers',
      { toolMode: 'smart', message: 'A haiku', skip_auto_offers: true },
      false,
    ],
    ['raw', { enableTools: true, promptMode: 'raw' }, false],
    ['grounded', { enableTools: true, promptMode: 'grounded' }, false],
    ['surface', { enableTools: true, promptMode: 'surface' }, false],
  ])('are offered like other automatic tools: %s', async (_name, body, offered) => {
    const app = await createChatApp({ settings: SETTINGS });
    await ask(app, body);
    expect(offeredTo(app.calls[0]).includes('use_skill')).toBe(offered);
  });

  it('reports an unknown skill and lists the known ones', async () => {
    const app = await createChatApp({ settings: SETTINGS, onCall: loading('sonnet') });
    await ask(app, { enableTools: true });
    expect(toResult(app.calls[1])).toMatchObject({
      isError: true,
      content: 'There is no skill sonnet. Available skills: business-letter, haiku.',
    });
  });

  it('offer no tool without a skill', async () => {
    const app = await createChatApp();
    const body = await ask(app, { enableTools: true, tools: ['use_skill'] });
    expect(body.tools.unrecognizedTools).toEqual(['use_skill']);
  });

  it('are available to agent runs without enabling unapproved tools', async () => {
    const app = await createExecutionApp({ settings: SETTINGS, onCall: loading('business-letter') });
    const { id } = (await app.run()).body;
    await app.settle();
    expect(await app.look(id)).toMatchObject({ status: 'completed', answer: 'Dear Sirs' });
    expect(offeredTo(app.calls[1])).toContain('stamp');
    expect(offeredTo(app.calls[1])).not.toContain('seal');
  });
});
