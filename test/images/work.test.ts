import { createHash } from 'node:crypto';
import { FILES, PROJECTS, QUESTS } from '@questline/core/internal';
import { createMemoryObjects } from '@questline/core/memory';
import type { ObjectStore } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createImageApp, spentBy } from '../support/images.ts';
import { createStudio, drawAll, IMAGE_MODEL, PICTURE } from '../support/media.ts';

/** The model without some abilities. */
const without = (abilities: object) => ({
  ...IMAGE_MODEL,
  image: { ...IMAGE_MODEL.image, supports: { ...IMAGE_MODEL.image?.supports, ...abilities } } as never,
});

describe('work on an image', () => {
  it('names the files after the quest, their places and their types, with ids known in advance', async () => {
    const types = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'];
    const images = types.map((mediaType) => ({ ...PICTURE, mediaType }));
    const app = await createImageApp(createStudio((call) => call.answer({ images })));
    const { id, images: names } = await app.drawn({ n: 4 });
    const stem = `image-${String(id).slice(-6)}`;
    expect(names).toEqual([`${stem}-1.png`, `${stem}-2.jpg`, `${stem}-3.webp`, `${stem}-4.png`]);
    const files = await app.services.store.collection(FILES).find({ ownerId: app.user.id });
    const ids = types.map((_, place) =>
      createHash('sha256').update(`${id}:${place}`).digest('hex').slice(0, 24),
    );
    expect(files.map((file) => file.id).sort()).toEqual(ids.sort());
  });

  it('is measured: the time to load, of the model, and to store', async () => {
    const own = createMemoryObjects();
    const put: ObjectStore['put'] = async (...object) => {
      await app.clock.advance(30);
      return own.put(...object);
    };
    const fetchFile = async () => {
      await app.clock.advance(10);
      return PICTURE;
    };
    const studio = createStudio((call) => {
      app.clock.advance(20).then(() => drawAll(call), call.fail);
    });
    const app = await createImageApp(studio, { objects: { ...own, put }, web: { fetchFile } });
    const { body } = await app.json('POST', '/api/v1/sessions', { body: { name: 'x' } });
    const edit = { sessionId: body.id, image: 'https://example.com/a.png' };
    const { id } = await app.drawn(edit, '/api/v1/image-edits');
    const quest = await app.services.store.collection(QUESTS).get(String(id));
    expect(quest?.phases).toEqual({ load: 10, model: 20, store: 30 });
  });

  it('fails for a model that was retired since, with its successor', async () => {
    const models = [
      { ...IMAGE_MODEL, deprecationDate: '2026-11-22', replacedBy: 'other' },
      { ...IMAGE_MODEL, id: 'other' },
    ];
    const app = await createImageApp(createStudio(drawAll, models), { started: false });
    const { id } = (await app.draw()).body;
    await app.clock.advance(86_400_000);
    await app.api.start();
    await app.settle();
    expect(await app.services.store.collection(QUESTS).get(id)).toMatchObject({
      ...{ type: 'error', errorCode: 'model_unavailable' },
      explanation: "model 'painter' was retired on 2026-11-22; use 'other'",
    });
  });

  it('fails for a model that was removed since', async () => {
    const models = [[IMAGE_MODEL], [{ ...IMAGE_MODEL, id: 'other' }]];
    const studio = { ...createStudio(drawAll), models: () => models[0] ?? [] };
    const app = await createImageApp(studio, { started: false });
    const { id } = (await app.draw()).body;
    models.shift();
    await app.api.start();
    await app.settle();
    expect(await app.services.store.collection(QUESTS).get(id)).toMatchObject({
      ...{ type: 'error', errorCode: 'model_unavailable' },
      explanation: "The model 'painter' is no longer available.",
    });
  });

  it('fails for an edit by a model that only generates images, and only for it', async () => {
    const app = await createImageApp(createStudio(drawAll, [without({ edit: false })]));
    const first = await app.draw();
    await app.settle();
    expect(await app.poll(first.body.id)).toMatchObject({ type: 'message' });
    const { sessionId } = first.body as unknown as { sessionId: string };
    const edit = { sessionId, image: await app.addFile('image/png') };
    expect(await app.drawn(edit, '/api/v1/image-edits')).toMatchObject({
      ...{ type: 'error', reply: 'Painter does not edit images.' },
    });
  });

  it('stores no file for a user who stopped it meanwhile', async () => {
    const own = createMemoryObjects();
    // It does not notice the signal.
    const put: ObjectStore['put'] = (key, content, about) => own.put(key, content, about);
    const app = await createImageApp(
      createStudio(() => undefined),
      { objects: { ...own, put } },
    );
    const { id } = (await app.draw()).body;
    await app.settle();
    const [call] = app.studio.images;
    await app.json('POST', `/api/v1/quests/${id}/cancel`);
    await app.settle();
    expect(call?.options.signal?.aborted).toBe(false);
    if (call !== undefined) drawAll(call);
    await app.settle();
    expect(await app.services.store.collection(FILES).count({})).toBe(0);
    expect(await spentBy(app)).toBe(10);
  });

  it('stops the call of its provider when the service stops', async () => {
    const app = await createImageApp(createStudio(() => undefined));
    await app.draw();
    await app.settle();
    await app.api.drain(0);
    expect(app.studio.images[0]?.options.signal?.aborted).toBe(true);
  });

  it('stops storing files when it is stopped', async () => {
    let signal: AbortSignal | undefined;
    const put: ObjectStore['put'] = (_key, _content, _about, options) =>
      new Promise((_resolve, reject) => {
        signal = options?.signal;
        signal?.addEventListener('abort', () => reject(signal?.reason), { once: true });
      });
    const app = await createImageApp(createStudio(), { objects: { ...createMemoryObjects(), put } });
    const { id } = (await app.draw()).body;
    await app.settle();
    expect(signal?.aborted).toBe(false);
    await app.json('POST', `/api/v1/quests/${id}/cancel`);
    await app.settle();
    expect(signal?.aborted).toBe(true);
    expect(await app.poll(id)).toMatchObject({ status: 'stopped', images: [] });
  });

  it('fails free of charge if its project cannot take the files', async () => {
    let isDown = false;
    const app = await createImageApp(createStudio(), {
      key: { scopes: ['ai:generate', 'projects:write'] },
      store(store) {
        const guard = (inner: typeof store): typeof store => {
          const collection: typeof store.collection = (shape) => {
            const own = inner.collection(shape);
            if (shape.name !== PROJECTS.name) return own;
            const update: typeof own.update = (...change) =>
              isDown ? Promise.reject(new Error('down')) : own.update(...change);
            return { ...own, update };
          };
          return {
            ...inner,
            collection,
            transaction: (work, options) => inner.transaction((inside) => work(guard(inside)), options),
          };
        };
        return guard(store);
      },
    });
    const { body } = await app.json('POST', '/api/v1/projects', { body: { name: 'P', description: 'D' } });
    isDown = true;
    expect(await app.drawn({ projectId: body.id })).toMatchObject({ status: 'done', type: 'error' });
    expect(await spentBy(app)).toBe(0);
  });
});
