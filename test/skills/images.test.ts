import { answered, type ImageHook, imageTools, type ToolContext } from '@questline/core';
import type { ImageInput } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { answerParts, createChatApp } from '../support/chat.ts';
import { callTool } from '../support/execution.ts';
import type { ModelCall } from '../support/model.ts';

const drawing = (call: ModelCall): void => {
  const isAnswered = call.request.messages.at(-1)?.content[0]?.type === 'tool_result';
  if (!isAnswered && call.request.tools !== undefined) {
    callTool(call, 'generate_image', { prompt: 'A red boat at dawn' });
  } else {
    call.say(...answerParts('Here it is.'));
    call.end();
  }
};

async function createAppWith(isReady: boolean) {
  const asked: [ImageInput, ToolContext][] = [];
  const hook: ImageHook = {
    isReady: () => isReady,
    async generate(input, context) {
      asked.push([input, context]);
      return answered('The image is shown to the user.', { type: 'image', payload: { name: 'boat.png' } });
    },
  };
  const app = await createChatApp({
    onCall: drawing,
    settings: { tools: [imageTools(hook)], admin: { DefaultAPIModel: 'scripted' } },
  });
  return { app, asked };
}

describe('tool generate_image of the host', () => {
  it('is run by the image provider for the caller and charged to the payer', async () => {
    const { app, asked } = await createAppWith(true);
    const { body } = await app.chat({ message: 'Draw a boat', toolMode: 'smart', wait: true });
    expect(body).toMatchObject({
      response: 'Here it is.',
      toolPayloads: [{ type: 'image', payload: { name: 'boat.png' } }],
      tools: { effectiveTools: ['generate_image'] },
    });
    expect(asked).toMatchObject([
      [
        { prompt: 'A red boat at dawn', shape: 'square' },
        {
          userId: app.user.id,
          sessionId: body.sessionId,
          payer: { account: app.account },
          callKey: `${body.id}:0`,
        },
      ],
    ]);
  });

  it('is offered only when images are configured', async () => {
    const { app } = await createAppWith(false);
    const bare = await createChatApp();
    for (const { chat } of [app, bare]) {
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
