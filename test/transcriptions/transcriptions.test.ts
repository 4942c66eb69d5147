import { TRANSCRIPTION_UPLOADS, toFetchHandler } from '@questline/core';
import { createMemoryObjects } from '@questline/core/memory';
import { describe, expect, it } from 'vitest';
import { createSoundStudio, type SoundStudio } from '../support/media.ts';
import { createWorld, type World, type WorldOptions } from '../support/world.ts';

const RECORDING = 'x'.repeat(1024);

interface Upload {
  readonly upload_url: string;
  readonly upload_fields: Readonly<Record<string, string>>;
  readonly file_key: string;
  readonly expires_at: string;
}

async function setUp(studio: SoundStudio = createSoundStudio(), options: WorldOptions = {}) {
  const objects = createMemoryObjects();
  const world = await createWorld({
    models: [studio],
    key: { scopes: ['ai:generate'] },
    objects,
    ...options,
  });
  return { world, objects, studio };
}

async function announce(world: World, size = RECORDING.length): Promise<Upload> {
  const answer = await world.ask('POST', '/api/v1/transcriptions/uploads', {
    body: { mime_type: 'audio/ogg', file_size: size },
  });
  expect(answer.status).toBe(201);
  return (await answer.json()) as Upload;
}

/** Sends the form as a client does: fields first, the file last. */
async function send(world: World, upload: Upload, content = RECORDING): Promise<number> {
  const parts = [...Object.entries(upload.upload_fields), ['file', content] as const].map(
    ([name, value]) =>
      `--xyz\r\nContent-Disposition: form-data; name="${name}"${name === 'file' ? '; filename="a.ogg"' : ''}\r\n\r\n${value}\r\n`,
  );
  const answer = await world.ask('POST', upload.upload_url, {
    credential: null,
    headers: { 'Content-Type': 'multipart/form-data; boundary=xyz' },
    body: `${parts.join('')}--xyz--\r\n`,
  });
  return answer.status;
}

async function transcribe(world: World, file_key: string, credential?: string) {
  const answer = await world.ask('POST', '/api/v1/transcriptions', {
    body: { file_key },
    ...(credential !== undefined && { credential }),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

const spentBy = async ({ ledger, account }: World): Promise<number> =>
  1000 - (await ledger.balance(account)).available / 1e6;

describe('a recording', () => {
  it('is sent, written down, paid by its bytes, and gone', async () => {
    const { world, objects, studio } = await setUp();
    const upload = await announce(world);
    expect(upload.expires_at).toBe('2026-11-21T12:05:00.000Z');
    expect(await send(world, upload)).toBe(204);
    expect(await transcribe(world, upload.file_key)).toEqual({ status: 200, body: { text: 'Hello.' } });
    expect(studio.recordings[0]?.request).toEqual({
      model: 'listener',
      audio: { mediaType: 'audio/ogg', data: Buffer.from(RECORDING) },
    });
    // 100 credits a megabyte, 1024 bytes.
    expect(await spentBy(world)).toBeCloseTo(100 / 1024, 5);
    expect(await objects.head(`transcriptions/${upload.file_key}`)).toBeUndefined();
    expect((await transcribe(world, upload.file_key)).status).toBe(404);
  });

  it('is its sender’s alone', async () => {
    const { world } = await setUp();
    const upload = await announce(world);
    await send(world, upload);
    const other = await world.token(await world.addUser('bob@example.com'));
    expect((await transcribe(world, upload.file_key, other)).status).toBe(404);
    // And was not touched by that.
    expect((await transcribe(world, upload.file_key)).status).toBe(200);
  });

  it('that has not arrived, or whose time is over, is not found', async () => {
    const { world } = await setUp();
    expect((await transcribe(world, (await announce(world)).file_key)).status).toBe(404);
    const late = await announce(world);
    await send(world, late);
    await world.clock.advance(5 * 60_000);
    expect((await transcribe(world, late.file_key)).status).toBe(404);
    expect((await transcribe(world, 'nothing')).status).toBe(404);
  });

  it('that is not what was announced is refused, and gone', async () => {
    const { world, objects, studio } = await setUp();
    const upload = await announce(world);
    const key = `transcriptions/${upload.file_key}`;
    await objects.put(key, Buffer.from('other'), { contentType: 'audio/ogg' });
    expect((await transcribe(world, upload.file_key)).status).toBe(422);
    expect(await objects.head(key)).toBeUndefined();
    expect(studio.recordings).toHaveLength(0);
  });

  it('that nobody asks about is removed', async () => {
    const { world, objects } = await setUp();
    await world.api.start();
    const upload = await announce(world);
    await send(world, upload);
    await world.clock.advance(21 * 60_000);
    await world.settle();
    expect(await objects.head(`transcriptions/${upload.file_key}`)).toBeUndefined();
    expect(await world.services.store.collection(TRANSCRIPTION_UPLOADS).count({})).toBe(0);
  });

  it('that takes too long is given up with 504, is free, and gone', async () => {
    const studio = createSoundStudio({ onRecording: () => undefined });
    const { world, objects } = await setUp(studio);
    const upload = await announce(world);
    await send(world, upload);
    const asking = transcribe(world, upload.file_key);
    await world.settle();
    expect(await spentBy(world)).toBeGreaterThan(0);
    await world.clock.advance(60_000);
    expect(await asking).toMatchObject({ status: 504, body: { errorCode: 'request_timeout' } });
    expect(studio.recordings[0]?.options.signal?.aborted).toBe(true);
    expect(await spentBy(world)).toBe(0);
    expect(await objects.head(`transcriptions/${upload.file_key}`)).toBeUndefined();
  });

  it('that takes too long is given up where the provider does not mind it, too', async () => {
    const { world } = await setUp({ ...createSoundStudio(), transcribe: () => new Promise(() => undefined) });
    const upload = await announce(world);
    await send(world, upload);
    const asking = transcribe(world, upload.file_key);
    await world.settle();
    await world.clock.advance(60_000);
    expect(await asking).toMatchObject({ status: 504, body: { errorCode: 'request_timeout' } });
    expect(await spentBy(world)).toBe(0);
  });

  it('is written down once, however many ask at once', async () => {
    const { world, studio } = await setUp();
    const upload = await announce(world);
    await send(world, upload);
    const answers = await Promise.all(Array.from({ length: 5 }, () => transcribe(world, upload.file_key)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404, 404]);
    expect(studio.recordings).toHaveLength(1);
  });

  it('is not taken without credit', async () => {
    const { world } = await setUp(createSoundStudio(), { credits: 0 });
    const upload = await announce(world);
    await send(world, upload);
    expect(await transcribe(world, upload.file_key)).toMatchObject({
      status: 422,
      body: { errorCode: 'insufficient_credits' },
    });
  });
});

describe('a recording that comes with its question', () => {
  const MOST = 26_214_400;
  const partOf = (name: string, content: Uint8Array | string, type?: string) =>
    Buffer.concat([
      Buffer.from(
        `--xyz\r\nContent-Disposition: form-data; name="${name}"; filename="a"\r\n${type === undefined ? '' : `Content-Type: ${type}\r\n`}\r\n`,
      ),
      Buffer.from(content),
      Buffer.from('\r\n'),
    ]);

  async function ask(world: World, ...parts: readonly Buffer[]) {
    const body = Buffer.concat([...parts, Buffer.from('--xyz--\r\n')]);
    const request = new Request('http://questline.test/api/ai/transcribe', {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${await world.token()}`,
        'Content-Type': 'multipart/form-data; boundary=xyz',
        'Content-Length': String(body.length),
      },
      body,
    });
    const answer = await toFetchHandler(world.api)(request);
    return { status: answer?.status, body: (await answer?.json()) as Record<string, unknown> };
  }

  it('is written down at once, of each kind there is, up to 25 MB', async () => {
    const { world, studio } = await setUp(createSoundStudio(), { credits: 10_000 });
    for (const type of ['audio/webm;codecs=opus', 'Audio/MP3', 'audio/x-wav']) {
      expect(await ask(world, partOf('file', 'sound', type))).toEqual({
        status: 200,
        body: { text: 'Hello.' },
      });
    }
    expect(studio.recordings.map(({ request }) => request.audio.mediaType)).toEqual([
      'audio/webm',
      'audio/mpeg',
      'audio/wav',
    ]);
    expect(await ask(world, partOf('file', Buffer.alloc(MOST), 'audio/ogg'))).toMatchObject({ status: 200 });
    expect(await ask(world, partOf('file', Buffer.alloc(MOST + 1), 'audio/ogg'))).toMatchObject({
      status: 413,
      body: { error: { code: 'PAYLOAD_TOO_LARGE' }, maxSize: MOST },
    });
  });

  it('is the first part `file`, whatever stands beside it', async () => {
    const { world, studio } = await setUp();
    const both = await ask(
      world,
      partOf('note', 'x'.repeat(4000)),
      partOf('file', 'one', 'audio/ogg'),
      partOf('file', 'two', 'audio/ogg'),
    );
    expect(both.status).toBe(200);
    expect(studio.recordings[0]?.request.audio.data).toEqual(Buffer.from('one'));
  });

  it.each([
    ['no file', 400, 'VALIDATION_ERROR', [partOf('other', 'x', 'audio/ogg')]],
    ['a file of no type', 422, 'VALIDATION_ERROR', [partOf('file', 'x')]],
    ['a file that is no recording', 422, 'VALIDATION_ERROR', [partOf('file', 'x', 'text/plain')]],
    ['an empty file', 422, 'VALIDATION_ERROR', [partOf('file', '', 'audio/ogg')]],
    [
      'more beside the file than anybody means',
      400,
      'VALIDATION_ERROR',
      [partOf('note', Buffer.alloc(5000)), partOf('file', 'x', 'audio/ogg')],
    ],
  ] as const)('is refused with %s, for nothing', async (_, status, code, parts) => {
    const { world } = await setUp();
    expect(await ask(world, ...parts)).toMatchObject({ status, body: { error: { code } } });
    expect(await spentBy(world)).toBe(0);
  });

  it('is refused unread when it says that it is too long', async () => {
    const { world } = await setUp();
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
    const answer = await toFetchHandler(world.api)(
      new Request('http://questline.test/api/ai/transcribe', {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${await world.token()}`,
          'Content-Type': 'multipart/form-data; boundary=xyz',
          'Content-Length': String(2 * MOST),
        },
        body,
        duplex: 'half',
      } as RequestInit),
    );
    expect([answer?.status, isRead]).toEqual([413, false]);
  });
});
