import { describe, expect, it } from 'vitest';
import { createImageApp, type ImageApp, spentBy } from '../support/images.ts';
import { createFrameParser } from '../support/live-events.ts';
import { createStudio, IMAGE_MODEL, PICTURE } from '../support/media.ts';

describe('image generation', () => {
  it('is acknowledged at once, run as a quest, stored as a file and charged', async () => {
    const app = await createImageApp();
    const { status, body } = await app.draw({ n: 2, size: '512x256', quality: 'hd', seed: 7 });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: 'queued',
      quest: { id: body.id, status: 'pending' },
      originalPrompt: 'A red panda',
      enhancedPrompt: 'A red panda',
      promptWasEnhanced: false,
      intent: 'fresh',
    });
    await app.settle();
    const quest = await app.poll(body.id);
    expect(quest).toMatchObject({ status: 'done', type: 'message' });
    const files = quest.files as { name: string; url: string; isImage: boolean }[];
    expect(quest.images).toEqual(files.map(({ name }) => name));
    expect(files).toHaveLength(2);
    expect(files[0]).toMatchObject({ isImage: true, isAudio: false, isVideo: false });
    expect(app.studio.images[0]?.request).toEqual({
      model: 'painter',
      prompt: 'A red panda',
      count: 2,
      size: { width: 512, height: 256 },
      quality: 'high',
      seed: 7,
      safetyTolerance: 2,
    });
    expect(await spentBy(app)).toBe(20);
    expect(quest.promptMeta).toMatchObject({ model: 'painter', credits: 20 });
  });

  it('uses the named project and rejects one of another user', async () => {
    const scopes = ['ai:generate', 'projects:read', 'projects:write', 'files:read'] as const;
    const app = await createImageApp(createStudio(), { key: { scopes } });
    const body = { name: 'Pandas', description: 'All of them' };
    const own = (await app.json('POST', '/api/v1/projects', { body })).body;
    const { id: userId } = await app.addUser('bob@example.com');
    const { key: credential } = await app.issue({ userId, scopes });
    const foreign = (await app.json('POST', '/api/v1/projects', { body, credential })).body;
    const files = async () => (await app.json('GET', `/api/v1/projects/${own.id}`)).body.file_ids;
    const quest = await app.drawn({ projectId: own.id, n: 2 });
    expect(quest).toMatchObject({ status: 'done', type: 'message' });
    expect(await files()).toHaveLength(2);
    await app.drawn({ projectId: own.id });
    const ids = await files();
    expect(new Set(ids).size).toBe(3);
    const edit = {
      sessionId: (await app.draw()).body.sessionId,
      image: await app.addFile('image/png'),
      projectId: own.id,
    };
    expect(await app.drawn(edit, '/api/v1/image-edits')).toMatchObject({ type: 'message' });
    expect(await files()).toHaveLength(4);
    const { body: file } = await app.json('GET', `/api/v1/files/${ids[0]}`);
    expect(file).toMatchObject({ mime_type: 'image/png' });

    const spent = await spentBy(app);
    for (const projectId of ['unknown', '0123456789abcdef01234567', foreign.id]) {
      const failed = await app.drawn({ projectId });
      expect(failed).toMatchObject({ status: 'done', type: 'error' });
      expect(failed.reply).toContain('The project was not found');
    }
    expect((await app.json('GET', `/api/v1/projects/${foreign.id}`, { credential })).body.file_ids).toEqual(
      [],
    );
    // No image was generated for them.
    expect([app.studio.images.length, await spentBy(app)]).toEqual([4, spent]);
  });

  it('has an address that is signed anew at each poll', async () => {
    const app = await createImageApp();
    const quest = await app.drawn();
    const getUrl = ({ files }: Record<string, unknown>) => (files as { url: string }[])[0]?.url;
    await app.clock.advance(60_000);
    const again = await app.poll(String(quest.id));
    expect(getUrl(quest)).toMatch(/^\/api\/v1\/objects/);
    expect(getUrl(again)).not.toBe(getUrl(quest));
  });

  it('is followed with the addresses of its files', async () => {
    const app = await createImageApp();
    const { id } = await app.drawn();
    const answer = await app.ask('GET', `/api/v1/quests/${id}/events`);
    const [snapshot] = createFrameParser()(await answer.text());
    expect(snapshot?.data).toMatchObject({ type: 'snapshot', state: await app.poll(String(id)) });
    expect(snapshot?.data.state.files[0]?.url).toMatch(/^\/api\/v1\/objects/);
  });

  it('returns at most as many images as requested', async () => {
    const studio = createStudio((call) => call.answer({ images: [PICTURE, PICTURE, PICTURE] }));
    const app = await createImageApp(studio);
    expect((await app.drawn({ n: 2 })).images).toHaveLength(2);
    expect(await spentBy(app)).toBe(20);
  });

  it('charges the images that were returned', async () => {
    const studio = createStudio((call) => call.answer({ images: [PICTURE] }));
    const app = await createImageApp(studio);
    await app.drawn({ n: 4 });
    expect(await spentBy(app)).toBe(10);
  });

  it.each([
    ['nothing', undefined],
    ['less than nothing', { input: -5, output: -100 }],
    ['a fraction of a token', { input: 5, output: 0.5 }],
    ['no token', { input: 0, output: 0 }],
  ])('costs the held amount for a model priced per token when %s is reported', async (_, usage) => {
    const model = { ...IMAGE_MODEL, maxOutputTokens: 1000, prices: { input: 1, output: 10 } };
    const studio = createStudio(
      (call) => call.answer({ images: [PICTURE], ...(usage !== undefined && { usage }) }),
      [model],
    );
    const app = await createImageApp(studio);
    expect(await app.drawn()).toMatchObject({ status: 'done', type: 'message' });
    // 1000 tokens at 1000 credits per million, and six prompt tokens at 100.
    expect(await spentBy(app)).toBeCloseTo(1.0006, 6);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });

  it('charges nothing for an image without bytes', async () => {
    const empty = { ...PICTURE, data: Buffer.alloc(0) };
    const app = await createImageApp(createStudio((call) => call.answer({ images: [PICTURE, empty] })));
    const quest = await app.drawn({ n: 2 });
    expect([quest.status, (quest.images as unknown[]).length, await spentBy(app)]).toEqual(['done', 1, 10]);
  });

  it('continues the latest image of the session', async () => {
    const app = await createImageApp();
    const { body } = await app.draw();
    const { sessionId } = body as unknown as { sessionId: string };
    expect((await app.draw({ sessionId })).body).toMatchObject({ intent: 'continuation', sessionId });
    expect((await app.draw({})).body).toMatchObject({ intent: 'fresh' });
  });

  it.each(['image-generations', 'image-edits'] as const)(
    'is made once for parallel requests with one Idempotency-Key: %s',
    async (path) => {
      const app = await createImageApp();
      const { body: session } = await app.json('POST', '/api/v1/sessions', { body: { name: 'Pictures' } });
      const image = await app.addFile('image/png');
      const ask = (prompt: string) =>
        app.json('POST', `/api/v1/${path}`, {
          body: { prompt, model: 'painter', sessionId: session.id, ...(path === 'image-edits' && { image }) },
          headers: { 'Idempotency-Key': 'one' },
        });
      const answers = await Promise.all(Array.from({ length: 50 }, () => ask('A cat')));
      for (const { status, body } of answers) expect([status, body]).toEqual([200, answers[0]?.body]);
      const { status, body } = await ask('A dog');
      expect([status, body.errorCode]).toEqual([422, 'idempotency_key_reused']);
      await app.settle();
      expect(app.studio.images).toHaveLength(1);
      expect(await spentBy(app)).toBe(10);
      expect((await ask('A cat')).body).toEqual(answers[0]?.body);
    },
  );

  it('accepts null in place of absent options', async () => {
    const app = await createImageApp();
    const nothing = { n: null, size: null, seed: null, sessionId: null, fileIds: null, aspect_ratio: null };
    expect(await app.drawn(nothing)).toMatchObject({ status: 'done', type: 'message' });
  });
});

describe('source images', () => {
  it('are files of the caller that reach the model', async () => {
    const app = await createImageApp();
    const reference = await app.addFile('image/png', 'one');
    const first = await app.addFile('image/png', 'two');
    const { body } = await app.draw({ referenceImageFileIds: [reference], fileIds: [first] });
    expect(body).toMatchObject({ intent: 'continuation' });
    await app.settle();
    expect(app.studio.images[0]?.request.references).toEqual([
      { mediaType: 'image/png', data: Buffer.from('two') },
      { mediaType: 'image/png', data: Buffer.from('one') },
    ]);
  });

  it('are named by an edit, with the mask first among its files', async () => {
    const app = await createImageApp();
    const [image, mask] = [await app.addFile('image/png', 'image'), await app.addFile('image/png', 'mask')];
    const { body } = await app.json('POST', '/api/v1/sessions', { body: { name: 'x' } });
    const edit = { sessionId: body.id, image, fileIds: [mask] };
    expect(await app.drawn(edit, '/api/v1/image-edits')).toMatchObject({ type: 'message' });
    expect(app.studio.images[0]?.request).toMatchObject({
      source: { data: Buffer.from('image') },
      mask: { data: Buffer.from('mask') },
    });
    const asked = await app.draw({ ...edit, fileIds: [] }, '/api/v1/image-edits');
    expect(asked.status).toBe(400);
  });

  it('may be an https address fetched by the web port', async () => {
    const fetched: string[] = [];
    const fetchFile = async (url: string) => {
      fetched.push(url);
      return PICTURE;
    };
    const app = await createImageApp(createStudio(), { web: { fetchFile } });
    const { body } = await app.json('POST', '/api/v1/sessions', { body: { name: 'x' } });
    const edit = (image: string) => app.drawn({ sessionId: body.id, image }, '/api/v1/image-edits');
    expect(await edit('https://example.com/a.png')).toMatchObject({ type: 'message' });
    expect(await edit('http://example.com/a.png')).toMatchObject({ type: 'error' });
    expect(await edit('file:///etc/passwd')).toMatchObject({ type: 'error' });
    expect(fetched).toEqual(['https://example.com/a.png']);
  });

  it.each([
    ['unknown', async () => '0'.repeat(24), 'A reference image was not found.'],
    ['malformed', async () => 'nothing', 'A reference image was not found.'],
    ['no image', (app: ImageApp) => app.addFile('text/plain'), 'A reference file is not an image.'],
    [
      "another user's",
      async (app: ImageApp) => {
        const other = await app.addUser('bob@example.com');
        const { file } = await app.services.library.save(other.id, {
          name: 'x',
          mimeType: 'image/png',
          content: PICTURE.data,
        });
        return file?.id ?? '';
      },
      'A reference image was not found.',
    ],
  ])('fail the quest free of charge when they are %s', async (_what, makeFile, reply) => {
    const app = await createImageApp();
    const quest = await app.drawn({ referenceImageFileIds: [await makeFile(app)] });
    expect(quest).toMatchObject({ status: 'done', type: 'error', reply, files: [] });
    expect(app.studio.images).toHaveLength(0);
    expect(await spentBy(app)).toBe(0);
  });
});
