import { ProviderError } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { answerParts, createChatWorld } from '../support/chat.ts';
import { createStudio, IMAGE_MODEL, PICTURE, type Studio } from '../support/media.ts';
import { createScriptedProvider, type ModelCall } from '../support/model.ts';

/** A model that has a picture made, and then says what it was told of it. */
async function ask(studio: Studio, admin: object = { DefaultImageModel: 'painter' }) {
  const model = createScriptedProvider((call: ModelCall) => {
    const last = call.request.messages.at(-1)?.content.at(-1);
    if (last?.type === 'tool_result') call.say(...answerParts(last.content));
    else if (call.request.tools?.some(({ name }) => name === 'generate_image') === true) {
      const wish = JSON.stringify({ prompt: 'A red panda', shape: 'landscape' });
      call.say({ type: 'tool_use', id: 'c', name: 'generate_image', arguments: wish });
    } else call.say(...answerParts('I cannot draw.'));
    call.end();
  });
  const world = await createChatWorld({
    model,
    models: [model, studio],
    settings: { admin: { DefaultAPIModel: 'scripted', ...admin } },
  });
  const { body } = await world.chat({ message: 'Draw a red panda', enableTools: true });
  await world.settle();
  const quest = await world.poll(body.id);
  const charges = await world.ledger.charges({ account: world.account }, 10);
  return { world, quest, painted: charges.filter(({ model: painter }) => painter === 'painter') };
}

describe('generate_image', () => {
  it('makes a picture, keeps it as a file, shows it, and pays for it', async () => {
    const studio = createStudio();
    const { world, quest, painted } = await ask(studio);
    const [payload] = quest.toolPayloads as { type: string; payload: { fileId: string } }[];
    expect(payload).toMatchObject({ type: 'image', payload: { prompt: 'A red panda' } });
    const file = await world.services.library.get(world.user.id, payload?.payload.fileId ?? '');
    expect(file).toMatchObject({ mimeType: 'image/png', status: 'clean' });
    expect(quest.reply).toContain('The picture is shown to the user.');
    expect(studio.images[0]?.request).toMatchObject({ prompt: 'A red panda', aspectRatio: '3:2' });
    expect(painted).toMatchObject([{ status: 'settled', amount: 10_000_000, operation: 'generate_image' }]);
  });

  it('is paid for by its tokens where the model is, as counted or at most', async () => {
    const byToken = { ...IMAGE_MODEL, maxOutputTokens: 1000, prices: { input: 10, output: 100 } };
    const amounts = [];
    for (const usage of [undefined, { input: 20, output: 400 }, { output: 9e15 }]) {
      const studio = createStudio(
        (call) => call.answer({ images: [PICTURE], ...(usage && { usage }) }),
        [byToken],
      );
      const { painted } = await ask(studio);
      amounts.push(painted.map(({ status, amount }) => [status, amount]));
    }
    // Six tokens of prompt at 0.001 credits, a thousand of picture at 0.01.
    expect(amounts).toEqual([[['settled', 10_006_000]], [['settled', 4_020_000]], [['settled', 10_006_000]]]);
  });

  it('tells the model why there is none, which is free', async () => {
    const studio = createStudio((call) => call.fail(new ProviderError('content_blocked', 'secret')));
    const { quest, painted } = await ask(studio);
    expect(quest).toMatchObject({ type: 'message', reply: expect.stringContaining('safety rules') });
    expect(painted).toMatchObject([{ status: 'released' }]);
  });

  it('is not offered without a default image model', async () => {
    const { quest } = await ask(createStudio(), {});
    expect(quest.reply).toBe('I cannot draw.');
  });
});
