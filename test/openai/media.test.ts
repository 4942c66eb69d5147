import { createDemoProvider } from '@questline/core';
import type { ModelInfo } from '@questline/core/ports';
import { toFile } from 'openai';
import { describe, expect, it } from 'vitest';
import { createStudio, IMAGE_MODEL, PICTURE } from '../support/media.ts';
import { createOpenAIApp, readError } from './support.ts';

const AUDIO: ModelInfo[] = [
  {
    id: 'speaker',
    name: 'Speaker',
    type: 'text-to-speech',
    provider: 'media',
    contextWindow: 0,
    maxOutputTokens: 0,
    audio: { formats: ['mp3', 'wav'], maxCharacters: 1000 },
    prices: { thousandCharacters: 1 },
  },
  {
    id: 'listener',
    name: 'Listener',
    type: 'speech-to-text',
    provider: 'media',
    contextWindow: 0,
    maxOutputTokens: 0,
    prices: { megabyte: 1 },
  },
];

async function createMediaApp() {
  const spoken: unknown[] = [];
  const heard: unknown[] = [];
  const studio = createStudio(undefined, [IMAGE_MODEL, ...AUDIO]);
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
      createDemoProvider(),
    ],
    settings: { admin: { DefaultAPIModel: 'demo-chat' } },
  });
  return { app, studio, spoken, heard };
}

describe('media and embeddings of the official SDK', () => {
  it('embeds texts as numbers and as base64', async () => {
    const { app } = await createMediaApp();
    const ask = (encoding_format?: 'float') =>
      app.client.embeddings.create({
        model: 'demo-embedding',
        input: ['one', 'two'],
        ...(encoding_format !== undefined && { encoding_format }),
      });
    const [packed, plain] = [await ask(), await ask('float')];
    expect(plain.data).toHaveLength(2);
    expect(packed.data[0]?.embedding).toHaveLength(512);
    expect(packed.data[0]?.embedding[0]).toBeCloseTo(plain.data[0]?.embedding[0] ?? Number.NaN, 5);
    expect(plain.usage.prompt_tokens).toBeGreaterThan(0);
    const [charge] = await app.ledger.charges({ account: app.account }, 1);
    expect(charge).toMatchObject({
      operation: 'createOpenAIEmbeddings',
      usage: { input: plain.usage.prompt_tokens },
    });
    await expect(
      app.client.embeddings.create({ model: 'demo-embedding', input: [1, 2, 3] }),
    ).rejects.toMatchObject({ status: 400, param: 'input' });
    await expect(app.client.embeddings.create({ model: 'painter', input: 'x' })).rejects.toMatchObject({
      status: 404,
      code: 'model_not_found',
    });
  });

  it('charges nothing for images without bytes', async () => {
    const studio = createStudio((call) => call.answer({ images: [{ ...PICTURE, data: Buffer.alloc(0) }] }));
    const app = await createOpenAIApp({ models: [studio] });
    await expect(
      app.client.images.generate({ model: 'painter', prompt: 'A panda' }, { maxRetries: 0 }),
    ).rejects.toMatchObject({ status: 502 });
    expect((await app.ledger.balance(app.account)).available).toBe(1000e6);
  });

  it('generates and edits images, charged per image', async () => {
    const { app, studio } = await createMediaApp();
    const made = await app.client.images.generate({
      model: 'painter',
      prompt: 'A lake',
      n: 2,
      size: '512x512',
      quality: 'high',
    });
    const b64_json = PICTURE.data.toString('base64');
    expect(made.data).toEqual([{ b64_json }, { b64_json }]);
    const edited = await app.client.images.edit({
      model: 'painter',
      prompt: 'Add a boat',
      image: [
        await toFile(Buffer.from('first'), 'a.png', { type: 'image/png' }),
        await toFile(Buffer.from('second'), 'b.png', { type: 'image/png' }),
      ],
    });
    expect(edited.data).toEqual([{ b64_json }]);
    expect(studio.images.map(({ request }) => request)).toMatchObject([
      { prompt: 'A lake', count: 2, size: { width: 512, height: 512 }, quality: 'high' },
      {
        prompt: 'Add a boat',
        count: 1,
        source: { mediaType: 'image/png', data: Buffer.from('first') },
        references: [{ mediaType: 'image/png', data: Buffer.from('second') }],
      },
    ]);
    const charges = await app.ledger.charges({ account: app.account }, 10);
    expect(charges.map(({ operation, amount }) => [operation, amount]).toSorted()).toEqual([
      ['createOpenAIImage', 20_000_000],
      ['editOpenAIImage', 10_000_000],
    ]);
    await expect(
      app.client.images.generate({ model: 'painter', prompt: 'x', response_format: 'url' }),
    ).rejects.toMatchObject({ status: 400, param: 'response_format' });
    const form = new FormData();
    form.set('prompt', 'x');
    const incomplete = await fetch(`${app.baseURL}/images/edits`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${app.key}` },
      body: form,
    });
    expect(incomplete.status).toBe(400);
    expect((await readError(incomplete)).param).toBe('image');
  });

  it('generates speech and transcribes', async () => {
    const { app, spoken, heard } = await createMediaApp();
    const speech = await app.client.audio.speech.create({ model: 'speaker', voice: 'alloy', input: 'Hi.' });
    expect(speech.headers.get('content-type')).toBe('audio/mpeg');
    expect(await speech.text()).toBe('sound');
    expect(spoken).toEqual([{ model: 'speaker', text: 'Hi.', format: 'mp3', voice: 'alloy' }]);
    await expect(
      app.client.audio.speech.create({ model: 'speaker', voice: 'alloy', input: 'Hi.', speed: 2 }),
    ).rejects.toMatchObject({ status: 400, param: 'speed' });

    const file = await toFile(Buffer.from('recording'), 'talk.mp3');
    expect(await app.client.audio.transcriptions.create({ model: 'listener', file })).toEqual({
      text: 'Hello.',
    });
    expect(
      await app.client.audio.transcriptions.create({ model: 'listener', file, response_format: 'text' }),
    ).toBe('Hello.\n');
    expect(heard[0]).toEqual({
      model: 'listener',
      audio: { mediaType: 'audio/mpeg', data: Buffer.from('recording') },
    });
    await expect(
      app.client.audio.transcriptions.create({ model: 'listener', file, response_format: 'srt' }),
    ).rejects.toMatchObject({ status: 400, param: 'response_format' });
    await expect(app.client.audio.transcriptions.create({ model: 'speaker', file })).rejects.toMatchObject({
      status: 404,
    });
    const charges = await app.ledger.charges({ account: app.account }, 10);
    expect(charges.map(({ operation }) => operation).toSorted()).toEqual([
      'createOpenAISpeech',
      'createOpenAITranscription',
      'createOpenAITranscription',
    ]);
  });
});
