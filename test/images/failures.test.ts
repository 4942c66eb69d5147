import { ProviderError } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createImageApp, spentBy } from '../support/images.ts';
import { createStudio, drawAll } from '../support/media.ts';

describe('failed image generation', () => {
  it.each([
    ['overloaded', 'overloaded'],
    ['content_blocked', 'safety rules'],
    ['rejected_key', 'refused the provider key'],
    ['failed', 'failed'],
  ] as const)('reports on the quest that the provider answers %s, and is free', async (kind, words) => {
    const studio = createStudio((call) => call.fail(new ProviderError(kind, 'secret words')));
    const app = await createImageApp(studio);
    const quest = await app.drawn();
    expect(quest).toMatchObject({ status: 'done', type: 'error', images: [] });
    expect(quest.reply).toContain(words);
    expect(quest.reply).not.toContain('secret');
    expect(await spentBy(app)).toBe(0);
  });

  it('reports the code of insufficient credit', async () => {
    const app = await createImageApp(createStudio(), { credits: 9 });
    expect(await app.drawn()).toMatchObject({
      status: 'done',
      type: 'error',
      errorCode: 'insufficient_credits',
    });
  });

  it.each([
    [{ n: 5 }, 'n: Painter generates at most 4 at once.'],
    [{ size: '9000x10' }, 'size: this model supports 64 to 2048 pixels a side.'],
    [{ background: 'transparent' }, 'Painter does not support transparent backgrounds.'],
  ])('reports what the model supports for %j', async (body, reply) => {
    const app = await createImageApp();
    expect(await app.drawn(body)).toMatchObject({ type: 'error', reply });
  });

  it('is free when storage is full', async () => {
    const app = await createImageApp(createStudio(), {
      settings: { admin: { DefaultAPIModel: 'scripted', MaxFileSize: 4 } },
    });
    expect(await app.drawn()).toMatchObject({
      type: 'error',
      reply: 'The image could not be stored: it exceeds the maximum file size.',
    });
    expect(await spentBy(app)).toBe(0);
  });

  const cancelDrawing = async () => {
    const app = await createImageApp(createStudio(() => undefined));
    const { id } = (await app.draw()).body;
    await app.settle();
    expect(await spentBy(app)).toBe(10);
    await app.json('POST', `/api/v1/quests/${id}/cancel`);
    await app.settle();
    expect(await app.poll(id)).toMatchObject({ status: 'stopped' });
    return { app, id, drawing: app.studio.images[0] };
  };

  it('is stopped by cancellation and charged when its provider completes it', async () => {
    const { app, id, drawing } = await cancelDrawing();
    if (drawing !== undefined) drawAll(drawing);
    await app.settle();
    expect(await app.poll(id)).toMatchObject({
      status: 'stopped',
      images: [],
      promptMeta: { credits: 10 },
    });
    expect(await spentBy(app)).toBe(10);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });

  it('is free when its provider fails after cancellation', async () => {
    const { app, drawing } = await cancelDrawing();
    drawing?.fail(new ProviderError('failed', 'down'));
    await app.settle();
    expect(await spentBy(app)).toBe(0);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });
});
