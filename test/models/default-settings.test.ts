import { USERS } from '@questline/core';
import type { ModelInfo } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createChatApp, sayAtOnce } from '../support/chat.ts';
import { createStudio, drawAll, IMAGE_MODEL } from '../support/media.ts';
import { createScriptedProvider, SCRIPTED_MODEL } from '../support/model.ts';

async function createAdminApp() {
  const { image } = IMAGE_MODEL;
  const editor: ModelInfo = {
    ...IMAGE_MODEL,
    id: 'editor',
    prices: { image: 0.001 },
    ...(image && { image: { ...image, supports: { ...image.supports, requires_input_image: true } } }),
  };
  const app = await createChatApp({
    models: [
      createScriptedProvider(sayAtOnce('Hello.'), [
        { ...SCRIPTED_MODEL, id: 'dear', prices: { input: 900, output: 900 } },
        { ...SCRIPTED_MODEL, id: 'plain', supportsTools: false, prices: { input: 1, output: 1 } },
        SCRIPTED_MODEL,
        { ...SCRIPTED_MODEL, id: 'old', deprecationDate: '2026-11-01', replacedBy: 'scripted' },
      ]),
      createStudio(drawAll, [{ ...IMAGE_MODEL, id: 'fresco', prices: { image: 1 } }, editor, IMAGE_MODEL]),
    ],
    settings: { admin: {} },
  });
  await app.services.store.collection(USERS).update(app.user.id, { isAdmin: true });
  const credential = await app.token();
  const ask = <const Method extends string, const Path extends string>(
    method: Method,
    path: Path,
    body?: unknown,
  ) => app.json(method, path, { credential, ...(body !== undefined && { body }) });
  return { ...app, ask };
}

describe('default models', () => {
  it('are null at first, and the cheapest capable models of the first provider answer', async () => {
    const app = await createAdminApp();
    const { body } = await app.ask('GET', '/api/settings');
    const defaults = body.settings.filter(({ settingName }: { settingName: string }) =>
      /^Default(API|Image)Model$/.test(settingName),
    );
    expect(defaults.map(({ settingValue }: { settingValue: unknown }) => settingValue)).toEqual([null, null]);
    expect((await app.chat({ message: 'Hi' })).body.model).toBe('scripted');
    const drawn = await app.ask('POST', '/api/ai/generate-image', { prompt: 'A panda' });
    expect(drawn.status).toBe(200);
    await app.settle();
    const charges = await app.ledger.charges({ account: app.account }, 10);
    expect(charges.map(({ model }) => model)).toContain('painter');
  });

  it('are listed first, before cheaper models without the capability', async () => {
    const app = await createAdminApp();
    const { body } = await app.json('GET', '/api/v1/models');
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual([
      'scripted',
      'dear',
      'plain',
      'painter',
      'fresco',
      'editor',
    ]);
  });

  it('are validated to exist and to be capable when they are set', async () => {
    const app = await createAdminApp();
    const set = (key: string, value: unknown) => app.ask('PUT', '/api/settings/update', { key, value });
    expect((await set('DefaultAPIModel', 'dear')).status).toBe(200);
    expect((await app.chat({ message: 'Hi' })).body.model).toBe('dear');
    expect((await set('DefaultAPIModel', null)).status).toBe(200);
    expect((await set('DefaultImageModel', 'fresco')).status).toBe(200);
    for (const [key, value, words] of [
      ['DefaultAPIModel', 'unknown', "there is no chat model 'unknown'"],
      ['DefaultAPIModel', 'painter', "there is no chat model 'painter'"],
      ['DefaultAPIModel', 'old', "model 'old' was retired on 2026-11-01; use 'scripted'"],
      ['DefaultImageModel', 'scripted', "makes images of a prompt 'scripted'"],
      ['DefaultImageModel', 'editor', "makes images of a prompt 'editor'"],
    ] as const) {
      const { status, body } = await set(key, value);
      expect([key, value, status, JSON.stringify(body)]).toEqual([
        key,
        value,
        422,
        expect.stringContaining(words),
      ]);
    }
  });
});
