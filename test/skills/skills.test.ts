import { answered, createToolbox, defineTool, type Settings, type Skill } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { answerParts, type ChatWorld, createChatWorld } from '../support/chat.ts';
import { createExecutionWorld, useTool } from '../support/execution.ts';
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

const resultOf = (call: ModelCall | undefined) => {
  const part = call?.request.messages.at(-1)?.content[0];
  return part?.type === 'tool_result' ? part : undefined;
};

/** Loads a skill, then answers. */
function loading(skill: string): (call: ModelCall) => void {
  return (call) => {
    if (resultOf(call) === undefined && offeredTo(call).includes('use_skill')) {
      useTool(call, 'use_skill', { skill });
    } else {
      call.say(...answerParts('Dear Sirs'));
      call.end();
    }
  };
}

const ask = async (world: ChatWorld, body: object) =>
  (await world.chat({ message: 'Write to the bank', wait: true, enableMementos: false, ...body })).body;

describe('skills', () => {
  it('are told of by name and description; their instructions only to who asks', async () => {
    const world = await createChatWorld({ settings: SETTINGS, onCall: loading('business-letter') });
    const body = await ask(world, { enableTools: true });
    expect(body.tools.autoSelectedTools).toContain('use_skill');
    const [first, second] = world.calls;
    const offer = first?.request.tools?.find(({ name }) => name === 'use_skill');
    for (const { id, name, description } of [LETTER, HAIKU]) {
      expect(offer?.description).toContain(`${id} (${name}): ${description}`);
    }
    const atFirst = [first?.request.tools, first?.request.messages.slice(0, 2)];
    expect(JSON.stringify(atFirst)).not.toContain('Yours sincerely');
    expect(resultOf(second)).toMatchObject({ isError: false });
    expect(resultOf(second)?.content).toContain(LETTER.instructions);
    expect(JSON.stringify(second?.request)).not.toContain(HAIKU.instructions);
    expect(body.response).toBe('Dear Sirs');
  });

  it('bring the tools they speak of, but none that needs approval, is unknown, or denied by the session', async () => {
    const world = await createChatWorld({ settings: SETTINGS, onCall: loading('business-letter') });
    await ask(world, { enableTools: true });
    expect(offeredTo(world.calls[0])).not.toContain('stamp');
    expect(offeredTo(world.calls[1])).toContain('stamp');
    expect(offeredTo(world.calls[1])).not.toContain('seal');
    const { body: session } = await world.json('POST', '/api/v1/sessions', {
      body: { name: 'x', disabledTools: ['stamp'] },
    });
    await ask(world, { enableTools: true, sessionId: session.id });
    expect(offeredTo(world.calls[3])).not.toContain('stamp');
  });

  it.each([
    ['the default set', { enableTools: true }, true],
    ['named tools', { tools: ['stamp'] }, true],
    ['smart, and the message names one', { toolMode: 'smart', message: 'A haiku, please' }, true],
    ['smart, and it does not', { toolMode: 'smart' }, false],
    ['named by id', { tools: ['use_skill'], skip_auto_offers: true }, true],
    ['nothing said of tools', {}, false],
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
  ])('are offered as the other tools the server adds by itself: %s', async (_name, body, offered) => {
    const world = await createChatWorld({ settings: SETTINGS });
    await ask(world, body);
    expect(offeredTo(world.calls[0]).includes('use_skill')).toBe(offered);
  });

  it('that there are not are told by those there are', async () => {
    const world = await createChatWorld({ settings: SETTINGS, onCall: loading('sonnet') });
    await ask(world, { enableTools: true });
    expect(resultOf(world.calls[1])).toMatchObject({
      isError: true,
      content: 'There is no skill sonnet. There are: business-letter, haiku.',
    });
  });

  it('are no tool where there are none', async () => {
    const world = await createChatWorld();
    const body = await ask(world, { enableTools: true, tools: ['use_skill'] });
    expect(body.tools.unrecognizedTools).toEqual(['use_skill']);
  });

  it('serve runs of agents too, and open nothing there that was not approved', async () => {
    const world = await createExecutionWorld({ settings: SETTINGS, onCall: loading('business-letter') });
    const { id } = (await world.run()).body;
    await world.settle();
    expect(await world.look(id)).toMatchObject({ status: 'completed', answer: 'Dear Sirs' });
    expect(offeredTo(world.calls[1])).toContain('stamp');
    expect(offeredTo(world.calls[1])).not.toContain('seal');
  });
});
