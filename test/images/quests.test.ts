import { ProviderError } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { type ChatWorld, type ChatWorldOptions, createChatWorld } from '../support/chat.ts';
import { createStudio, drawAll, IMAGE_MODEL, PICTURE, type Studio } from '../support/media.ts';

interface ImageWorld extends ChatWorld {
  readonly studio: Studio;
  draw(
    body?: object,
    path?: string,
  ): Promise<{ status: number; body: Record<string, never> & { id: string } }>;
  /** Draws, lets everything run, and answers the quest. */
  drawn(body?: object, path?: string): Promise<Record<string, unknown>>;
  addFile(mimeType: string, content?: string): Promise<string>;
}

async function createImageWorld(
  studio: Studio = createStudio(),
  options: Partial<ChatWorldOptions> = {},
): Promise<ImageWorld> {
  const world = await createChatWorld({ models: [studio], ...options });
  const draw: ImageWorld['draw'] = (body = {}, path = '/api/v1/image-generations') =>
    world.json('POST', path, { body: { prompt: 'A red panda', model: 'painter', ...body } });
  return {
    ...world,
    studio,
    draw,
    async drawn(body, path) {
      const { id } = (await draw(body, path)).body;
      await world.settle();
      return world.poll(id);
    },
    async addFile(mimeType, content = 'a file') {
      const made = { name: 'file', mimeType, content: Buffer.from(content) };
      const { file } = await world.services.library.save(world.user.id, made);
      if (file === undefined) throw new Error('not kept');
      return file.id;
    },
  };
}

const spentBy = async (world: ChatWorld): Promise<number> =>
  1000 - (await world.ledger.balance(world.account)).available / 1e6;

describe('a picture', () => {
  it('is acknowledged at once, drawn as a quest, kept as a file and paid for', async () => {
    const world = await createImageWorld();
    const { status, body } = await world.draw({ n: 2, size: '512x256', quality: 'hd', seed: 7 });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: 'queued',
      quest: { id: body.id, status: 'pending' },
      originalPrompt: 'A red panda',
      enhancedPrompt: 'A red panda',
      promptWasEnhanced: false,
      intent: 'fresh',
    });
    await world.settle();
    const quest = await world.poll(body.id);
    expect(quest).toMatchObject({ status: 'done', type: 'message' });
    const files = quest.files as { name: string; url: string; isImage: boolean }[];
    expect(quest.images).toEqual(files.map(({ name }) => name));
    expect(files).toHaveLength(2);
    expect(files[0]).toMatchObject({ isImage: true, isAudio: false, isVideo: false });
    expect(world.studio.images[0]?.request).toEqual({
      model: 'painter',
      prompt: 'A red panda',
      count: 2,
      size: { width: 512, height: 256 },
      quality: 'high',
      seed: 7,
      safetyTolerance: 2,
    });
    expect(await spentBy(world)).toBe(20);
    expect(quest.promptMeta).toMatchObject({ model: 'painter', credits: 20 });
  });

  it("goes into the project that is named, and into nobody else's", async () => {
    const scopes = ['ai:generate', 'projects:read', 'projects:write', 'files:read'] as const;
    const world = await createImageWorld(createStudio(), { key: { scopes } });
    const body = { name: 'Pandas', description: 'All of them' };
    const own = (await world.json('POST', '/api/v1/projects', { body })).body;
    const { id: userId } = await world.addUser('bob@example.com');
    const { key: credential } = await world.issue({ userId, scopes });
    const foreign = (await world.json('POST', '/api/v1/projects', { body, credential })).body;
    const files = async () => (await world.json('GET', `/api/v1/projects/${own.id}`)).body.file_ids;
    const quest = await world.drawn({ projectId: own.id, n: 2 });
    expect(quest).toMatchObject({ status: 'done', type: 'message' });
    expect(await files()).toHaveLength(2);
    await world.drawn({ projectId: own.id });
    const ids = await files();
    expect(new Set(ids).size).toBe(3);
    const { body: file } = await world.json('GET', `/api/v1/files/${ids[0]}`);
    expect(file).toMatchObject({ mime_type: 'image/png' });

    const spent = await spentBy(world);
    for (const projectId of ['nobody', '0123456789abcdef01234567', foreign.id]) {
      const failed = await world.drawn({ projectId });
      expect(failed).toMatchObject({ status: 'done', type: 'error' });
      expect(failed.reply).toContain('The project was not found');
    }
    expect((await world.json('GET', `/api/v1/projects/${foreign.id}`, { credential })).body.file_ids).toEqual(
      [],
    );
    // Nothing was drawn for them.
    expect([world.studio.images.length, await spentBy(world)]).toEqual([2, spent]);
  });

  it('has an address that is signed anew at each poll', async () => {
    const world = await createImageWorld();
    const quest = await world.drawn();
    const urlOf = ({ files }: Record<string, unknown>) => (files as { url: string }[])[0]?.url;
    await world.clock.advance(60_000);
    const again = await world.poll(String(quest.id));
    expect(urlOf(quest)).toMatch(/^\/api\/v1\/objects/);
    expect(urlOf(again)).not.toBe(urlOf(quest));
  });

  it('is one of as many as were asked for, however many come', async () => {
    const studio = createStudio((call) => call.answer({ images: [PICTURE, PICTURE, PICTURE] }));
    const world = await createImageWorld(studio);
    expect((await world.drawn({ n: 2 })).images).toHaveLength(2);
    expect(await spentBy(world)).toBe(20);
  });

  it('is paid for by the pictures that came', async () => {
    const studio = createStudio((call) => call.answer({ images: [PICTURE] }));
    const world = await createImageWorld(studio);
    await world.drawn({ n: 4 });
    expect(await spentBy(world)).toBe(10);
  });

  it.each([
    ['nothing', undefined],
    ['less than nothing', { input: -5, output: -100 }],
    ['a part of a token', { input: 5, output: 0.5 }],
    ['no token', { input: 0, output: 0 }],
  ])('by a model that is paid by its tokens costs what was held when %s is counted', async (_, usage) => {
    const model = { ...IMAGE_MODEL, maxOutputTokens: 1000, prices: { input: 1, output: 10 } };
    const studio = createStudio(
      (call) => call.answer({ images: [PICTURE], ...(usage !== undefined && { usage }) }),
      [model],
    );
    const world = await createImageWorld(studio);
    expect(await world.drawn()).toMatchObject({ status: 'done', type: 'message' });
    // A thousand tokens at 1000 credits a million, and the prompt's six at 100.
    expect(await spentBy(world)).toBeCloseTo(1.0006, 6);
    expect((await world.ledger.balance(world.account)).held).toBe(0);
  });

  it('continues what the session drew last', async () => {
    const world = await createImageWorld();
    const { body } = await world.draw();
    const { sessionId } = body as unknown as { sessionId: string };
    expect((await world.draw({ sessionId })).body).toMatchObject({ intent: 'continuation', sessionId });
    expect((await world.draw({})).body).toMatchObject({ intent: 'fresh' });
  });

  it.each(['image-generations', 'image-edits'])(
    'is drawn once under one Idempotency-Key, however many ask together: %s',
    async (path) => {
      const world = await createImageWorld();
      const { body: session } = await world.json('POST', '/api/v1/sessions', { body: { name: 'Pictures' } });
      const image = await world.addFile('image/png');
      const ask = (prompt: string) =>
        world.json('POST', `/api/v1/${path}`, {
          body: { prompt, model: 'painter', sessionId: session.id, ...(path === 'image-edits' && { image }) },
          headers: { 'Idempotency-Key': 'one' },
        });
      const answers = await Promise.all(Array.from({ length: 50 }, () => ask('A cat')));
      for (const { status, body } of answers) expect([status, body]).toEqual([200, answers[0]?.body]);
      const { status, body } = await ask('A dog');
      expect([status, body.errorCode]).toEqual([422, 'idempotency_key_reused']);
      await world.settle();
      expect(world.studio.images).toHaveLength(1);
      expect(await spentBy(world)).toBe(10);
      expect((await ask('A cat')).body).toEqual(answers[0]?.body);
    },
  );

  it('may be wished for with null in the place of what is not wished for', async () => {
    const world = await createImageWorld();
    const nothing = { n: null, size: null, seed: null, sessionId: null, fileIds: null, aspect_ratio: null };
    expect(await world.drawn(nothing)).toMatchObject({ status: 'done', type: 'message' });
  });
});

describe('pictures to start from', () => {
  it('are files of the caller, which reach the model', async () => {
    const world = await createImageWorld();
    const reference = await world.addFile('image/png', 'one');
    const { body } = await world.draw({ referenceImageFileIds: [reference] });
    expect(body).toMatchObject({ intent: 'continuation' });
    await world.settle();
    expect(world.studio.images[0]?.request.references).toEqual([
      { mediaType: 'image/png', data: Buffer.from('one') },
    ]);
  });

  it('are named by an edit, with the mask first among its files', async () => {
    const world = await createImageWorld();
    const [image, mask] = [
      await world.addFile('image/png', 'image'),
      await world.addFile('image/png', 'mask'),
    ];
    const { body } = await world.json('POST', '/api/v1/sessions', { body: { name: 'x' } });
    const edit = { sessionId: body.id, image, fileIds: [mask] };
    expect(await world.drawn(edit, '/api/v1/image-edits')).toMatchObject({ type: 'message' });
    expect(world.studio.images[0]?.request).toMatchObject({
      source: { data: Buffer.from('image') },
      mask: { data: Buffer.from('mask') },
    });
    const asked = await world.draw({ ...edit, fileIds: [] }, '/api/v1/image-edits');
    expect(asked.status).toBe(400);
  });

  it('may be an https address, fetched by the web port', async () => {
    const fetched: string[] = [];
    const fetchFile = async (url: string) => {
      fetched.push(url);
      return PICTURE;
    };
    const world = await createImageWorld(createStudio(), { web: { fetchFile } });
    const { body } = await world.json('POST', '/api/v1/sessions', { body: { name: 'x' } });
    const edit = (image: string) => world.drawn({ sessionId: body.id, image }, '/api/v1/image-edits');
    expect(await edit('https://example.com/a.png')).toMatchObject({ type: 'message' });
    expect(await edit('http://example.com/a.png')).toMatchObject({ type: 'error' });
    expect(await edit('file:///etc/passwd')).toMatchObject({ type: 'error' });
    expect(fetched).toEqual(['https://example.com/a.png']);
  });

  it.each([
    ['unknown', async () => '0'.repeat(24), 'A reference image was not found.'],
    ['malformed', async () => 'nothing', 'A reference image was not found.'],
    ['no image', (world: ImageWorld) => world.addFile('text/plain'), 'A reference file is not an image.'],
    [
      "another user's",
      async (world: ImageWorld) => {
        const other = await world.addUser('bob@example.com');
        const { file } = await world.services.library.save(other.id, {
          name: 'x',
          mimeType: 'image/png',
          content: PICTURE.data,
        });
        return file?.id ?? '';
      },
      'A reference image was not found.',
    ],
  ])('that are %s fail the quest, and cost nothing', async (_what, fileOf, reply) => {
    const world = await createImageWorld();
    const quest = await world.drawn({ referenceImageFileIds: [await fileOf(world)] });
    expect(quest).toMatchObject({ status: 'done', type: 'error', reply, files: [] });
    expect(world.studio.images).toHaveLength(0);
    expect(await spentBy(world)).toBe(0);
  });
});

describe('a picture that fails', () => {
  it.each([
    ['overloaded', 'overloaded'],
    ['content_blocked', 'safety rules'],
    ['rejected_key', 'refused the provider key'],
    ['failed', 'failed'],
  ] as const)('because the provider says %s tells so on the quest, and is free', async (kind, words) => {
    const studio = createStudio((call) => call.fail(new ProviderError(kind, 'secret words')));
    const world = await createImageWorld(studio);
    const quest = await world.drawn();
    expect(quest).toMatchObject({ status: 'done', type: 'error', images: [] });
    expect(quest.reply).toContain(words);
    expect(quest.reply).not.toContain('secret');
    expect(await spentBy(world)).toBe(0);
  });

  it('for want of credit tells its code', async () => {
    const world = await createImageWorld(createStudio(), { credits: 9 });
    expect(await world.drawn()).toMatchObject({
      status: 'done',
      type: 'error',
      errorCode: 'insufficient_credits',
    });
  });

  it.each([
    [{ n: 5 }, 'n: Painter draws at most 4 at once.'],
    [{ size: '9000x10' }, 'size: this model draws 64 to 2048 pixels a side.'],
    [{ background: 'transparent' }, 'Painter draws no transparent backgrounds.'],
  ])('because of %j says what the model can do', async (body, reply) => {
    const world = await createImageWorld();
    expect(await world.drawn(body)).toMatchObject({ type: 'error', reply });
  });

  it('because there is no room for it costs nothing', async () => {
    const world = await createImageWorld(createStudio(), {
      settings: { admin: { DefaultAPIModel: 'scripted', MaxFileSize: 4 } },
    });
    expect(await world.drawn()).toMatchObject({
      type: 'error',
      reply: 'The image could not be kept: it is larger than files may be.',
    });
    expect(await spentBy(world)).toBe(0);
  });

  it('is stopped by its cancellation, and the provider with it', async () => {
    const world = await createImageWorld(createStudio(() => undefined));
    const { id } = (await world.draw()).body;
    await world.settle();
    expect(await spentBy(world)).toBe(10);
    await world.json('POST', `/api/v1/quests/${id}/cancel`);
    await world.settle();
    expect(await world.poll(id)).toMatchObject({ status: 'stopped' });
    expect(world.studio.images[0]?.options.signal?.aborted).toBe(true);
    expect(await spentBy(world)).toBe(0);
  });

  it('after a model was taken away says so', async () => {
    const models = [[IMAGE_MODEL], [{ ...IMAGE_MODEL, id: 'other' }]];
    const studio = { ...createStudio(drawAll), models: () => models[0] ?? [] };
    const world = await createImageWorld(studio, { started: false });
    const { id } = (await world.draw()).body;
    models.shift();
    await world.api.start();
    await world.settle();
    expect(await world.poll(id)).toMatchObject({
      type: 'error',
      reply: "The model 'painter' can no longer be used.",
    });
  });
});

describe('a picture at the workspace’s own wish', () => {
  it('is drawn by the default image model, for a user without any session too', async () => {
    const world = await createImageWorld(createStudio(), {
      settings: { admin: { DefaultAPIModel: 'scripted', DefaultImageModel: 'painter' } },
    });
    const credential = await world.token();
    const { status, body } = await world.json('POST', '/api/ai/generate-image', {
      credential,
      body: { prompt: 'A cat', style: 'vivid', size: '128x128' },
    });
    expect([status, body]).toMatchObject([200, { status: 'queued' }]);
    await world.settle();
    expect(await world.poll(body.questId)).toMatchObject({ status: 'done', type: 'message' });
    expect(world.studio.images[0]?.request).toMatchObject({
      style: 'vivid',
      size: { width: 128, height: 128 },
    });
  });
});
