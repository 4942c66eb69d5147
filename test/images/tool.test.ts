import { ProviderError } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { answerParts, createChatApp } from '../support/chat.ts';
import { createStudio, drawAll, IMAGE_MODEL, PICTURE, type Studio } from '../support/media.ts';
import { createScriptedProvider, type ModelCall } from '../support/model.ts';

/** A model that calls the tool and then answers with its result. */
async function ask(studio: Studio, admin: object = { DefaultImageModel: 'painter' }) {
  const model = createScriptedProvider((call: ModelCall) => {
    const last = call.request.messages.at(-1)?.content.at(-1);
    if (last?.type === 'tool_result') call.say(...answerParts(last.content));
    else if (call.request.tools?.some(({ name }) => name === 'generate_image') === true) {
      const input = JSON.stringify({ prompt: 'A red panda', shape: 'landscape' });
      call.say({ type: 'tool_use', id: 'c', name: 'generate_image', arguments: input });
    } else call.say(...answerParts('I cannot draw.'));
    call.end();
  });
  const app = await createChatApp({
    model,
    models: [model, studio],
    settings: { admin: { DefaultAPIModel: 'scripted', ...admin } },
  });
  const { body } = await app.chat({ message: 'Draw a red panda', enableTools: true });
  await app.settle();
  const quest = await app.poll(body.id);
  const charges = await app.ledger.charges({ account: app.account }, 10);
  return { app, quest, painted: charges.filter(({ model: painter }) => painter === 'painter') };
}

describe('tool generate_image', () => {
  it('makes an image, stores it as a file, shows it and charges for it', async () => {
    const studio = createStudio();
    const { app, quest, painted } = await ask(studio);
    const [payload] = quest.toolPayloads as { type: string; payload: { fileId: string } }[];
    expect(payload).toMatchObject({ type: 'image', payload: { prompt: 'A red panda' } });
    const file = await app.services.library.get(app.user.id, payload?.payload.fileId ?? '');
    expect(file).toMatchObject({ mimeType: 'image/png', status: 'clean' });
    expect(quest.reply).toContain('The image is shown to the user.');
    expect(studio.images[0]?.request).toMatchObject({ prompt: 'A red panda', aspectRatio: '3:2' });
    expect(painted).toMatchObject([{ status: 'settled', amount: 10_000_000, operation: 'generate_image' }]);
  });

  it('is charged by the reported tokens, at most the held amount', async () => {
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
    // Six prompt tokens at 0.001 credits, 1000 image tokens at 0.01.
    expect(amounts).toEqual([[['settled', 10_006_000]], [['settled', 4_020_000]], [['settled', 10_006_000]]]);
  });

  it('reports a failure to the model free of charge', async () => {
    const studio = createStudio((call) => call.fail(new ProviderError('content_blocked', 'secret')));
    const { quest, painted } = await ask(studio);
    expect(quest).toMatchObject({ type: 'message', reply: expect.stringContaining('safety rules') });
    expect(painted).toMatchObject([{ status: 'released' }]);
  });

  it('uses the cheapest image model by default', async () => {
    const { painted } = await ask(
      createStudio(drawAll, [{ ...IMAGE_MODEL, id: 'dear', prices: { image: 1 } }, IMAGE_MODEL]),
      {},
    );
    expect(painted).toMatchObject([{ status: 'settled', operation: 'generate_image' }]);
  });

  it('is not offered without an image model', async () => {
    const { quest } = await ask(createStudio(drawAll, []), {});
    expect(quest.reply).toBe('I cannot draw.');
  });
});
