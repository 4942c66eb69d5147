import { createDemoProvider } from '@questline/core';
import type { ModelInfo, SpeechRequest, TranscribeRequest } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createStudio, IMAGE_MODEL, PICTURE } from '../support/media.ts';
import { createOpenAIApp, readError } from './support.ts';

const model = (id: string, type: ModelInfo['type'], more: Partial<ModelInfo>): ModelInfo => ({
  id,
  name: id,
  type,
  provider: 'media',
  contextWindow: 0,
  maxOutputTokens: 0,
  ...more,
});
/** Some vendors list this quality. */
const PAINTER: ModelInfo = {
  ...IMAGE_MODEL,
  ...(IMAGE_MODEL.image && {
    image: {
      ...IMAGE_MODEL.image,
      supports: { ...IMAGE_MODEL.image.supports, qualities: ['low', 'high', 'auto'] },
    },
  }),
};
const MODELS = [
  PAINTER,
  // The server would choose these.
  model('another-speaker', 'text-to-speech', {
    audio: { formats: ['mp3', 'wav'], maxCharacters: 1000 },
    prices: { thousandCharacters: 1 },
  }),
  model('another-listener', 'speech-to-text', { prices: { megabyte: 1 } }),
  model('speaker', 'text-to-speech', {
    audio: { formats: ['mp3', 'wav'], maxCharacters: 1000 },
    prices: { thousandCharacters: 1 },
  }),
  model('listener', 'speech-to-text', { prices: { megabyte: 1 } }),
];

async function createMediaApp() {
  const spoken: SpeechRequest[] = [];
  const heard: TranscribeRequest[] = [];
  const studio = createStudio(
    (call) =>
      call.answer({ images: [PICTURE], revisedPrompt: 'A red lake', usage: { input: 3, output: 40 } }),
    MODELS,
  );
  const app = await createOpenAIApp({
    models: [
      {
        ...studio,
        async speech(request) {
          spoken.push(request);
          return { mediaType: 'audio/mpeg', data: Buffer.from('sound') };
        },
        async transcribe(request) {
          heard.push(request);
          return { text: 'Hello.' };
        },
      },
    ],
  });
  const sendForm = (
    path: string,
    fields: Readonly<Record<string, string | File>>,
    idempotencyKey?: string,
  ) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    return fetch(`${app.baseURL}${path}`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${app.key}`,
        ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
      },
      body: form,
    });
  };
  return { app, spoken, heard, studio, sendForm };
}

const RECORDING = (name: string, type = '', data = 'sound') => new File([data], name, { type });
const IMAGE = (type = 'image/png') => new File(['a picture'], 'a.png', { type });

describe('fields of media that would change the result', () => {
  const SPEECH = { model: 'speaker', voice: 'alloy', input: 'Hi.' };
  const DRAW = { model: 'painter', prompt: 'A lake' };

  it('are refused, with their name', async () => {
    const rows: [string, object, string][] = [
      ['/audio/speech', { ...SPEECH, speed: 2 }, 'speed'],
      ['/audio/speech', { ...SPEECH, instructions: 'Whisper.' }, 'instructions'],
      ['/audio/speech', { ...SPEECH, stream_format: 'sse' }, 'stream_format'],
      ['/audio/speech', { ...SPEECH, input: '' }, 'input'],
      ['/images/generations', { ...DRAW, stream: true }, 'stream'],
      ['/images/generations', { ...DRAW, partial_images: 1 }, 'partial_images'],
      ['/images/generations', { ...DRAW, response_format: 'url' }, 'response_format'],
      ['/images/generations', { ...DRAW, size: '0x10' }, 'size'],
      ['/images/generations', { ...DRAW, n: 11 }, 'n'],
    ];
    const { app } = await createMediaApp();
    for (const [path, body, param] of rows) {
      const response = await app.send('POST', path, body);
      expect([path, response.status, (await readError(response)).param]).toEqual([path, 400, param]);
    }
  });

  it('are refused in forms, with their name', async () => {
    const rows: [string, Record<string, string | File>, string][] = [
      ['/audio/transcriptions', { file: RECORDING('a.mp3') }, 'model'],
      ['/audio/transcriptions', { model: 'listener' }, 'file'],
      ['/audio/transcriptions', { model: 'listener', file: RECORDING('a.mp3', '', '') }, 'file'],
      ['/audio/transcriptions', { model: 'listener', file: RECORDING('a.txt', 'text/plain') }, 'file'],
      ['/audio/transcriptions', { model: 'listener', sound: RECORDING('a.mp3') }, 'file'],
      ['/audio/transcriptions', { model: 'listener', file: RECORDING('a.mp3'), stream: 'true' }, 'stream'],
      [
        '/audio/transcriptions',
        { model: 'listener', file: RECORDING('a.mp3'), response_format: 'srt' },
        'response_format',
      ],
      ['/images/edits', { prompt: 'A boat' }, 'image'],
      ['/images/edits', { image: IMAGE() }, 'prompt'],
      ['/images/edits', { prompt: 'A boat', image: IMAGE('image/gif') }, 'image'],
      ['/images/edits', { prompt: 'A boat', image: IMAGE(), mask: IMAGE('text/plain') }, 'mask'],
      ['/images/edits', { prompt: 'A boat', image: IMAGE(), n: 'many' }, 'n'],
      ['/images/edits', { prompt: 'A boat', image: IMAGE(), stream: 'true' }, 'stream'],
      ['/images/edits', { prompt: 'A boat', image: IMAGE(), partial_images: '1' }, 'partial_images'],
    ];
    const { sendForm } = await createMediaApp();
    for (const [path, fields, param] of rows) {
      const response = await sendForm(path, fields);
      expect([path, response.status, (await readError(response)).param]).toEqual([path, 400, param]);
    }
    const size = await sendForm('/images/edits', { prompt: 'A boat', image: IMAGE(), size: 'big' });
    expect((await readError(size)).message).toBe('size: expected auto, or pixels as in 1024x1024');
  });

  it.each<[string, object]>([
    ['/audio/speech', { ...SPEECH, model: 'painter' }],
    ['/images/generations', { ...DRAW, model: 'speaker' }],
    ['/embeddings', { model: 'painter', input: 'a' }],
  ])('are refused by %s for a model of another kind', async (path, body) => {
    const { app } = await createMediaApp();
    const response = await app.send('POST', path, body);
    expect([response.status, (await readError(response)).code]).toEqual([404, 'model_not_found']);
    const long = await readError(await app.send('POST', path, { ...body, model: 'x'.repeat(200) }));
    expect(long.message).toContain(`'${'x'.repeat(100)}'`);
  });

  it('are refused by the form of a recording for a model of another kind', async () => {
    const { sendForm } = await createMediaApp();
    const file = RECORDING('a.mp3');
    const response = await sendForm('/audio/transcriptions', { model: 'x'.repeat(200), file });
    const error = await readError(response);
    expect([response.status, error.code]).toEqual([404, 'model_not_found']);
    expect(error.message).toBe(`'${'x'.repeat(100)}' is not a speech-to-text model of this server`);
  });
});

describe('requests for media', () => {
  it('for speech have the voice and the format', async () => {
    const { app, spoken } = await createMediaApp();
    const body = { model: 'speaker', input: 'Hi.', speed: 1, instructions: '', stream_format: 'audio' };
    await app.send('POST', '/audio/speech', { ...body, voice: { id: 'mine' }, response_format: 'wav' });
    await app.send('POST', '/audio/speech', { ...body, voice: 'alloy', speed: null });
    expect(spoken).toEqual([
      { model: 'speaker', text: 'Hi.', voice: 'mine', format: 'wav' },
      { model: 'speaker', text: 'Hi.', voice: 'alloy', format: 'mp3' },
    ]);
  });

  it.each([
    ['a.mp3', 'application/octet-stream', 'audio/mpeg'],
    ['a.M4A', '', 'audio/mp4'],
    ['a.b.wav', 'audio/mpeg', 'audio/wav'],
    ['a.unknown', 'Audio/OGG; codecs=opus', 'audio/ogg'],
    ['recording', 'audio/flac', 'audio/flac'],
  ])('for a text of %s with the type %j have the type %s', async (name, type, mediaType) => {
    const { sendForm, heard } = await createMediaApp();
    const response = await sendForm('/audio/transcriptions', {
      model: 'listener',
      file: RECORDING(name, type),
    });
    expect([response.status, await response.json()]).toEqual([200, { text: 'Hello.' }]);
    expect(heard).toEqual([{ model: 'listener', audio: { mediaType, data: Buffer.from('sound') } }]);
  });

  it('for text are refused while the server stops', async () => {
    const { app, sendForm, heard } = await createMediaApp();
    app.services.admissionControl.close();
    const form = { model: 'listener', file: RECORDING('a.mp3') };
    expect((await sendForm('/audio/transcriptions', form)).status).toBe(503);
    expect(heard).toEqual([]);
  });

  it('for text are answered as text if that is asked for', async () => {
    const { sendForm } = await createMediaApp();
    const fields = { model: 'listener', file: RECORDING('a.mp3'), stream: 'false', response_format: 'text' };
    const response = await sendForm('/audio/transcriptions', fields, 'k1');
    expect(response.headers.get('content-type')).toContain('text/plain');
    expect([response.status, await response.text()]).toEqual([200, 'Hello.\n']);
    const again = await sendForm('/audio/transcriptions', fields, 'k1');
    expect([again.headers.get('idempotent-replayed'), await again.text()]).toEqual(['true', 'Hello.\n']);
  });

  it('for images have their options, and are answered with the prompt that was drawn and the tokens', async () => {
    const { app, studio } = await createMediaApp();
    const body = {
      prompt: 'A lake',
      n: 1,
      size: '512x256',
      quality: 'high',
      stream: false,
      partial_images: 0,
    };
    const response = await app.send('POST', '/images/generations', { ...body, model: 'painter' });
    expect(await response.json()).toEqual({
      created: Math.floor(app.clock.now() / 1000),
      data: [{ b64_json: PICTURE.data.toString('base64'), revised_prompt: 'A red lake' }],
      usage: {
        input_tokens: 3,
        output_tokens: 40,
        total_tokens: 43,
        input_tokens_details: { text_tokens: 3, image_tokens: 0 },
      },
    });
    const more = {
      size: 'auto',
      quality: 'auto',
      style: 'vivid',
      background: 'opaque',
      output_format: 'webp',
    };
    await app.send('POST', '/images/generations', { prompt: 'A lake', ...more });
    const [first, second] = studio.images.map(({ request }) => request);
    expect(first).toMatchObject({ count: 1, size: { width: 512, height: 256 }, quality: 'high' });
    expect(first).not.toHaveProperty('style');
    const kept = { style: 'vivid', background: 'opaque', outputFormat: 'webp' };
    expect(second).toMatchObject({ model: 'painter', prompt: 'A lake', count: 1, ...kept });
    for (const name of ['quality', 'size']) expect(second).not.toHaveProperty(name);
  });

  it.each<[object | undefined, object | undefined]>([
    [{ output: 1 }, { input_tokens: 0, output_tokens: 1, total_tokens: 1 }],
    [{ input: 3 }, { input_tokens: 3, output_tokens: 0, total_tokens: 3 }],
    [{}, undefined],
    [undefined, undefined],
  ])('for images are answered with the tokens that were counted: %j', async (usage, counted) => {
    const studio = createStudio(
      (call) => call.answer({ images: [PICTURE], ...(usage && { usage }) }),
      MODELS,
    );
    const app = await createOpenAIApp({ models: [studio] });
    const response = await app.send('POST', '/images/generations', { prompt: 'A lake', model: 'painter' });
    const answer = (await response.json()) as { usage?: object };
    expect(response.status).toBe(200);
    if (counted === undefined) expect(answer).not.toHaveProperty('usage');
    else expect(answer.usage).toMatchObject(counted);
  });

  it('for edits have the image and the mask', async () => {
    const { sendForm, studio } = await createMediaApp();
    const fields = {
      prompt: 'A boat',
      model: 'painter',
      image: IMAGE('IMAGE/PNG; a=b'),
      mask: IMAGE('image/webp'),
      n: '2',
    };
    expect((await sendForm('/images/edits', fields)).status).toBe(200);
    const data = Buffer.from('a picture');
    expect(studio.images[0]?.request).toMatchObject({
      prompt: 'A boat',
      count: 2,
      source: { mediaType: 'image/png', data },
      mask: { mediaType: 'image/webp', data },
    });
    expect(studio.images[0]?.request).not.toHaveProperty('references');
  });

  it.each([
    ['/images/generations', { prompt: 'A lake', model: 'painter' }],
    ['/audio/speech', { model: 'speaker', voice: 'alloy', input: 'Hi.' }],
  ])('of %s are answered once for one idempotency key', async (path, body) => {
    const { app, studio, spoken } = await createMediaApp();
    const send = () => app.send('POST', path, body, { 'Idempotency-Key': 'k1' });
    const [first, second] = [await send(), await send()];
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(await second.text()).toBe(await first.text());
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(second.headers.get('content-type')).toBe(first.headers.get('content-type'));
    expect(studio.images.length + spoken.length).toBe(1);
    expect((await app.send('POST', path, { ...body, user: 'u' }, { 'Idempotency-Key': 'k1' })).status).toBe(
      400,
    );
  });

  it.each([
    ['/images/edits', 'image', { prompt: 'A boat', model: 'painter' }],
    ['/audio/transcriptions', 'file', { model: 'listener' }],
  ])(
    'of the form of %s are answered once for one idempotency key and the same file',
    async (path, field, fields) => {
      const { sendForm } = await createMediaApp();
      const send = (content: string) =>
        sendForm(path, { ...fields, [field]: new File([content], 'a.mp3', { type: 'image/png' }) }, 'k1');
      const [first, second] = [await send('one'), await send('one')];
      expect([first.status, second.status]).toEqual([200, 200]);
      expect(await second.json()).toEqual(await first.json());
      expect(second.headers.get('idempotent-replayed')).toBe('true');
      expect((await send('two')).status).toBe(400);
    },
  );

  it('for embeddings have the dimensions and the format', async () => {
    const app = await createOpenAIApp({
      models: [createDemoProvider()],
      settings: { admin: { DefaultAPIModel: 'demo-chat' } },
    });
    const ask = async (fields: object) => {
      const response = await app.send('POST', '/embeddings', {
        model: 'demo-embedding',
        input: 'a',
        ...fields,
      });
      expect(response.status).toBe(200);
      const { data } = (await response.json()) as { data: { embedding: string | number[] }[] };
      return data[0]?.embedding;
    };
    expect(await ask({})).toHaveLength(512);
    expect(await ask({ dimensions: 64, encoding_format: 'float' })).toHaveLength(64);
    expect(await ask({ dimensions: null, encoding_format: 'base64' })).toEqual(expect.any(String));
  });
});
