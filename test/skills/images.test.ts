import { answered, type ImageHook, type ImageWish, imageTools, type ToolContext } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { answerParts, createChatWorld } from '../support/chat.ts';
import { useTool } from '../support/execution.ts';
import type { ModelCall } from '../support/model.ts';

const drawing = (call: ModelCall): void => {
  const isAnswered = call.request.messages.at(-1)?.content[0]?.type === 'tool_result';
  if (!isAnswered && call.request.tools !== undefined) {
    useTool(call, 'generate_image', { prompt: 'A red boat at dawn' });
  } else {
    call.say(...answerParts('Here it is.'));
    call.end();
  }
};

async function worldWith(isReady: boolean) {
  const asked: [ImageWish, ToolContext][] = [];
  const hook: ImageHook = {
    isReady: () => isReady,
    async generate(wish, context) {
      asked.push([wish, context]);
      return answered('The picture is shown to the user.', { type: 'image', payload: { name: 'boat.png' } });
    },
  };
  const world = await createChatWorld({
    onCall: drawing,
    settings: { tools: [imageTools(hook)], admin: { DefaultAPIModel: 'scripted' } },
  });
  return { world, asked };
}

describe('generate_image', () => {
  it('is run by whoever makes pictures, for the caller and out of the purse of the payer', async () => {
    const { world, asked } = await worldWith(true);
    const { body } = await world.chat({ message: 'Draw a boat', toolMode: 'smart', wait: true });
    expect(body).toMatchObject({
      response: 'Here it is.',
      toolPayloads: [{ type: 'image', payload: { name: 'boat.png' } }],
      tools: { effectiveTools: ['generate_image'] },
    });
    expect(asked).toMatchObject([
      [
        { prompt: 'A red boat at dawn', shape: 'square' },
        {
          userId: world.user.id,
          sessionId: body.sessionId,
          payer: { account: world.account },
          callKey: `${body.id}:0`,
        },
      ],
    ]);
  });

  it('is offered while pictures can be made, and only where they are configured', async () => {
    const { world } = await worldWith(false);
    const bare = await createChatWorld();
    for (const { chat } of [world, bare]) {
      const { body } = await chat({
        message: 'Draw a boat',
        enableTools: true,
        tools: ['generate_image'],
        wait: true,
      });
      expect(body.tools.effectiveTools).not.toContain('generate_image');
      expect(body.tools.unrecognizedTools).toEqual(['generate_image']);
    }
  });
});
