import { toFetchHandler } from '@questline/core';
import { TRANSCRIPTION_UPLOADS } from '@questline/core/internal';
import { createMemoryObjects } from '@questline/core/memory';
import type { ModelInfo, Usage } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createSoundStudio, type SoundStudio } from '../support/media.ts';
import { createTestApp, type TestApp, type TestAppOptions } from '../support/test-app.ts';

const RECORDING = 'x'.repeat(1024);

interface Upload {
  readonly upload_url: string;
  readonly upload_fields: Readonly<Record<string, string>>;
  readonly file_key: string;
  readonly expires_at: string;
}

async function setUp(studio: SoundStudio = createSoundStudio(), options: TestAppOptions = {}) {
  const objects = createMemoryObjects();
  const app = await createTestApp({
    models: [studio],
    key: { scopes: ['ai:generate'] },
    objects,
    ...options,
  });
  return { app, objects, studio };
}

async function announce(app: TestApp, size = RECORDING.length): Promise<Upload> {
  const answer = await app.ask('POST', '/api/v1/transcriptions/uploads', {
    body: { mime_type: 'audio/ogg', file_size: size },
  });
  expect(answer.status).toBe(201);
  return (await answer.json()) as Upload;
}

/** Sends the form as a client does: fields first, the file last. */
async function send(app: TestApp, upload: Upload, content = RECORDING): Promise<number> {
  const parts = [...Object.entries(upload.upload_fields), ['file', content] as const].map(
    ([name, value]) =>
      `--xyz\r\nContent-Disposition: form-data; name="${name}"${name === 'file' ? '; filename="a.ogg"' : ''}\r\n\r\n${value}\r\n`,
  );
  const answer = await app.ask('POST', upload.upload_url, {
    credential: null,
    headers: { 'Content-Type': 'multipart/form-data; boundary=xyz' },
    body: `${parts.join('')}--xyz--\r\n`,
  });
  return answer.status;
}

async function transcribe(app: TestApp, file_key: string, credential?: string) {
  const answer = await app.ask('POST', '/api/v1/transcriptions', {
    body: { file_key },
    ...(credential !== undefined && { credential }),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

const spentBy = async ({ ledger, account }: TestApp): Promise<number> =>
  1000 - (await ledger.balance(account)).available / 1e6;

describe('uploaded recording', () => {
  it('is transcribed, charged by its size and deleted', async () => {
    const { app, objects, studio } = await setUp();
    const upload = await announce(app);
    expect(upload.expires_at).toBe('2026-11-21T12:05:00.000Z');
    expect(await send(app, upload)).toBe(204);
    expect(await transcribe(app, upload.file_key)).toEqual({ status: 200, body: { text: 'Hello.' } });
    expect(studio.recordings[0]?.request).toEqual({
      model: 'listener',
      audio: { mediaType: 'audio/ogg', data: Buffer.from(RECORDING) },
    });
    // 100 credits per megabyte, 1024 bytes.
    expect(await spentBy(app)).toBeCloseTo(100 / 1024, 5);
    expect(await objects.head(`transcriptions/${upload.file_key}`)).toBeUndefined();
    expect((await transcribe(app, upload.file_key)).status).toBe(404);
  });

  it('is unknown to other users', async () => {
    const { app } = await setUp();
    const upload = await announce(app);
    await send(app, upload);
    const other = await app.token(await app.addUser('bob@example.com'));
    expect((await transcribe(app, upload.file_key, other)).status).toBe(404);
    // The rejected request did not change it.
    expect((await transcribe(app, upload.file_key)).status).toBe(200);
  });

  it('is unknown before its upload and after its expiry', async () => {
    const { app } = await setUp();
    expect((await transcribe(app, (await announce(app)).file_key)).status).toBe(404);
    const late = await announce(app);
    await send(app, late);
    await app.clock.advance(5 * 60_000);
    expect((await transcribe(app, late.file_key)).status).toBe(404);
    expect((await transcribe(app, 'nothing')).status).toBe(404);
  });

  it('is rejected and deleted when its type or size differs from the announced one', async () => {
    const { app, objects, studio } = await setUp();
    const upload = await announce(app);
    const key = `transcriptions/${upload.file_key}`;
    await objects.put(key, Buffer.from('other'), { contentType: 'audio/ogg' });
    expect((await transcribe(app, upload.file_key)).status).toBe(422);
    expect(await objects.head(key)).toBeUndefined();
    expect(studio.recordings).toHaveLength(0);
  });

  it('is deleted when no client requests its transcription', async () => {
    const { app, objects } = await setUp();
    await app.api.start();
    const upload = await announce(app);
    await send(app, upload);
    await app.clock.advance(21 * 60_000);
    await app.settle();
    expect(await objects.head(`transcriptions/${upload.file_key}`)).toBeUndefined();
    expect(await app.services.store.collection(TRANSCRIPTION_UPLOADS).count({})).toBe(0);
  });

  describe('with a model that is priced per second', () => {
    /** A hundred credits per megabyte, one per second. */
    const TIMED: ModelInfo = {
      id: 'timed',
      name: 'Timed',
      type: 'speech-to-text',
      provider: 'media',
      contextWindow: 0,
      maxOutputTokens: 0,
      prices: { megabyte: 1, second: 0.01 },
    };
    const heard = async (usage: Usage | undefined) => {
      const studio = createSoundStudio({
        onRecording: (call) => call.answer({ text: 'Hello.', ...(usage && { usage }) }),
      });
      const set = await setUp({ ...studio, models: () => [TIMED] });
      const upload = await announce(set.app);
      await send(set.app, upload);
      expect((await transcribe(set.app, upload.file_key)).status).toBe(200);
      return set.app;
    };

    it('is charged by the seconds that the provider reports', async () => {
      const app = await heard({ seconds: 12.5 });
      expect(await spentBy(app)).toBe(12.5);
      const [charge] = await app.ledger.charges({ account: app.account }, 1);
      expect(charge?.usage).toEqual({ seconds: 12.5 });
    });

    it('is charged by its size without a report', async () => {
      expect(await spentBy(await heard(undefined))).toBeCloseTo(100 / 1024, 5);
    });

    it('is charged by its size and logged when the reported duration exceeds what the bytes can contain', async () => {
      const app = await heard({ seconds: 17 });
      expect(await spentBy(app)).toBeCloseTo(100 / 1024, 5);
      expect(app.incidents).toMatchObject([
        { error: { name: 'UsageReportRejected', reported: { seconds: 17 }, model: 'timed' } },
      ]);
    });
  });

  it('is charged when the caller disconnects and the provider finishes the transcription', async () => {
    const { app, studio } = await setUp(createSoundStudio({ onRecording: () => undefined }));
    const upload = await announce(app);
    await send(app, upload);
    const leaving = new AbortController();
    const asked = app.ask('POST', '/api/v1/transcriptions', {
      body: { file_key: upload.file_key },
      signal: leaving.signal,
    });
    await app.settle();
    leaving.abort();
    await asked;
    studio.recordings[0]?.answer({ text: 'Hello.' });
    await app.settle();
    expect(await spentBy(app)).toBeCloseTo(100 / 1024, 5);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });

  it('times out with 504, free of charge, and is deleted', async () => {
    const studio = createSoundStudio({ onRecording: () => undefined });
    const { app, objects } = await setUp(studio);
    const upload = await announce(app);
    await send(app, upload);
    const asking = transcribe(app, upload.file_key);
    await app.settle();
    expect(await spentBy(app)).toBeGreaterThan(0);
    await app.clock.advance(60_000);
    expect(await asking).toMatchObject({ status: 504, body: { errorCode: 'request_timeout' } });
    expect(studio.recordings[0]?.options.signal?.aborted).toBe(true);
    expect(await spentBy(app)).toBe(0);
    expect(await objects.head(`transcriptions/${upload.file_key}`)).toBeUndefined();
  });

  it('times out even when the provider ignores its signal', async () => {
    const { app } = await setUp({ ...createSoundStudio(), transcribe: () => new Promise(() => undefined) });
    const upload = await announce(app);
    await send(app, upload);
    const asking = transcribe(app, upload.file_key);
    await app.settle();
    await app.clock.advance(60_000);
    expect(await asking).toMatchObject({ status: 504, body: { errorCode: 'request_timeout' } });
    expect(await spentBy(app)).toBe(0);
  });

  it('is transcribed once for parallel requests', async () => {
    const { app, studio } = await setUp();
    const upload = await announce(app);
    await send(app, upload);
    const answers = await Promise.all(Array.from({ length: 5 }, () => transcribe(app, upload.file_key)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404, 404]);
    expect(studio.recordings).toHaveLength(1);
  });

  it('is rejected without credit', async () => {
    const { app } = await setUp(createSoundStudio(), { credits: 0 });
    const upload = await announce(app);
    await send(app, upload);
    expect(await transcribe(app, upload.file_key)).toMatchObject({
      status: 422,
      body: { errorCode: 'insufficient_credits' },
    });
  });
});

describe('recording in a request body', () => {
  const MAX_COUNT = 26_214_400;
  const getPart = (name: string, content: Uint8Array | string, type?: string) =>
    Buffer.concat([
      Buffer.from(
        `--xyz\r\nContent-Disposition: form-data; name="${name}"; filename="a"\r\n${type === undefined ? '' : `Content-Type: ${type}\r\n`}\r\n`,
      ),
      Buffer.from(content),
      Buffer.from('\r\n'),
    ]);

  async function ask(app: TestApp, ...parts: readonly Buffer[]) {
    const body = Buffer.concat([...parts, Buffer.from('--xyz--\r\n')]);
    const request = new Request('http://questline.test/api/ai/transcribe', {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${await app.token()}`,
        'Content-Type': 'multipart/form-data; boundary=xyz',
        'Content-Length': String(body.length),
      },
      body,
    });
    const answer = await toFetchHandler(app.api)(request);
    return { status: answer?.status, body: (await answer?.json()) as Record<string, unknown> };
  }

  it('is transcribed in every supported format, up to 25 MB', async () => {
    const { app, studio } = await setUp(createSoundStudio(), { credits: 10_000 });
    for (const type of ['audio/webm;codecs=opus', 'Audio/MP3', 'audio/x-wav']) {
      expect(await ask(app, getPart('file', 'sound', type))).toEqual({
        status: 200,
        body: { text: 'Hello.' },
      });
    }
    expect(studio.recordings.map(({ request }) => request.audio.mediaType)).toEqual([
      'audio/webm',
      'audio/mpeg',
      'audio/wav',
    ]);
    expect(await ask(app, getPart('file', Buffer.alloc(MAX_COUNT), 'audio/ogg'))).toMatchObject({
      status: 200,
    });
    expect(await ask(app, getPart('file', Buffer.alloc(MAX_COUNT + 1), 'audio/ogg'))).toMatchObject({
      status: 413,
      body: { error: { code: 'PAYLOAD_TOO_LARGE' }, maxSize: MAX_COUNT },
    });
  });

  it('is the first part `file`; other parts are ignored', async () => {
    const { app, studio } = await setUp();
    const both = await ask(
      app,
      getPart('note', 'x'.repeat(4000)),
      getPart('file', 'one', 'audio/ogg'),
      getPart('file', 'two', 'audio/ogg'),
    );
    expect(both.status).toBe(200);
    expect(studio.recordings[0]?.request.audio.data).toEqual(Buffer.from('one'));
  });

  it.each([
    ['no file', 400, 'VALIDATION_ERROR', [getPart('other', 'x', 'audio/ogg')]],
    ['a file without a type', 422, 'VALIDATION_ERROR', [getPart('file', 'x')]],
    ['a file of another type', 422, 'VALIDATION_ERROR', [getPart('file', 'x', 'text/plain')]],
    ['an empty file', 422, 'VALIDATION_ERROR', [getPart('file', '', 'audio/ogg')]],
    [
      'too much other data',
      400,
      'VALIDATION_ERROR',
      [getPart('note', Buffer.alloc(5000)), getPart('file', 'x', 'audio/ogg')],
    ],
  ] as const)('is rejected with %s, free of charge', async (_, status, code, parts) => {
    const { app } = await setUp();
    expect(await ask(app, ...parts)).toMatchObject({ status, body: { error: { code } } });
    expect(await spentBy(app)).toBe(0);
  });

  it('is rejected without being read when its declared length is too large', async () => {
    const { app } = await setUp();
    let isRead = false;
    const body = new ReadableStream(
      {
        pull(controller) {
          isRead = true;
          controller.close();
        },
      },
      { highWaterMark: 0 },
    );
    const answer = await toFetchHandler(app.api)(
      new Request('http://questline.test/api/ai/transcribe', {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${await app.token()}`,
          'Content-Type': 'multipart/form-data; boundary=xyz',
          'Content-Length': String(2 * MAX_COUNT),
        },
        body,
        duplex: 'half',
      } as RequestInit),
    );
    expect([answer?.status, isRead]).toEqual([413, false]);
  });
});
