import { describe, expect, it } from 'vitest';
import { type ChatApp, createChatApp } from '../support/chat.ts';
import { createStudio, drawAll, IMAGE_MODEL } from '../support/media.ts';

const CHEAPER = { ...IMAGE_MODEL, id: 'sketcher', prices: { image: 0.01 } };

const createApp = async (models = [IMAGE_MODEL, CHEAPER], admin: object = {}, settings: object = {}) => {
  const studio = createStudio(drawAll, models);
  const app = await createChatApp({
    models: [studio],
    settings: { admin: { DefaultAPIModel: 'scripted', ...admin }, ...settings },
  });
  return { app, studio };
};

const ask = async (app: ChatApp, options: object = {}) => {
  const credential = await app.token();
  return app.json('POST', '/api/ai/generate-image', { credential, body: { prompt: 'A cat', ...options } });
};

describe('image requested by the workspace', () => {
  it('is made by the default model, with the options of the request', async () => {
    const { app, studio } = await createApp(undefined, { DefaultImageModel: 'painter' });
    const { status, body } = await ask(app, { style: 'vivid', size: '128x128' });
    expect([status, body]).toMatchObject([200, { status: 'queued' }]);
    await app.settle();
    expect(await app.poll(body.questId)).toMatchObject({ status: 'done', type: 'message' });
    expect(studio.images[0]?.request).toMatchObject({
      ...{ model: 'painter', style: 'vivid', size: { width: 128, height: 128 } },
    });
  });

  it('is made by the cheapest model that the user may use, where the default one is not allowed', async () => {
    const planModels = { free: ['sketcher'] };
    const { app, studio } = await createApp(undefined, { DefaultImageModel: 'painter' }, { planModels });
    expect((await ask(app)).status).toBe(200);
    await app.settle();
    expect(studio.images[0]?.request).toMatchObject({ model: 'sketcher' });
  });

  it('is refused on a server without an image model', async () => {
    const { app } = await createApp([]);
    expect(await ask(app)).toMatchObject({
      status: 422,
      body: { error: { message: expect.stringContaining('There is no image model') } },
    });
  });

  it('begins a session for a user who has none, though others have some, and goes on in it', async () => {
    const { app } = await createApp();
    const { id: userId } = await app.addUser('bob@example.com');
    const { key: credential } = await app.issue({ userId, scopes: ['notebooks:write', 'notebooks:read'] });
    await app.json('POST', '/api/v1/sessions', { credential, body: { name: 'Notes of Bob' } });
    expect((await ask(app)).status).toBe(200);
    expect((await ask(app)).status).toBe(200);
    const { body } = await app.json('GET', '/api/v1/sessions');
    expect(body.data).toHaveLength(1);
  });
});
