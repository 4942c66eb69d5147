import type { ImageModelV4, SpeechModelV4, TranscriptionModelV4 } from '@ai-sdk/provider';
import { describe, expect, test } from 'vitest';
import { type AiSdkMediaModel, createAiSdkProvider } from '../src/index.ts';
import { hello, toFailure } from './scripted.ts';

const response = { timestamp: new Date(0), modelId: 'm', headers: undefined };
const JPEG = Buffer.from([0xff, 0xd8, 0xff, 0xe0]);

/** A model of any kind that records its calls, and answers or throws. */
function scripted(answer: unknown, version = 'v4') {
  const calls: Record<string, unknown>[] = [];
  const model = {
    specificationVersion: version,
    provider: 'test.media',
    modelId: 'm',
    maxImagesPerCall: 4,
    async doGenerate(call: Record<string, unknown>) {
      calls.push(call);
      if (answer instanceof Error) throw answer;
      return { warnings: [], response, ...(answer as object) };
    },
  };
  return { calls, model: model as unknown as ImageModelV4 & SpeechModelV4 & TranscriptionModelV4 };
}

const getProvider = (...media: AiSdkMediaModel[]) => createAiSdkProvider({ id: 'bridge', models: [], media });

const DRAW = { model: 'p', prompt: 'A cat', count: 2 };
const PICTURE = { mediaType: 'image/png', data: Buffer.from('x') };

describe('images of an SDK model', () => {
  test('requests images in SDK options and detects their type from the bytes', async () => {
    const { model, calls } = scripted({
      images: [JPEG.toString('base64'), 'iVBORw=='],
      usage: { inputTokens: 3, outputTokens: 5, totalTokens: 8 },
    });
    const provider = getProvider({
      id: 'p',
      type: 'image',
      model,
      prices: { image: 1 },
      prepare: (call, { quality }) => ({
        ...call,
        providerOptions: { test: { quality: quality ?? 'none' } },
      }),
    });
    const signal = new AbortController().signal;
    const result = await provider.image?.(
      { ...DRAW, size: { width: 64, height: 32 }, seed: 7, quality: 'high', source: PICTURE, mask: PICTURE },
      { signal },
    );
    expect(result?.images.map(({ mediaType }) => mediaType)).toEqual(['image/jpeg', 'image/png']);
    expect(result?.usage).toEqual({ input: 3, output: 5 });
    expect(calls[0]).toMatchObject({
      prompt: 'A cat',
      n: 2,
      size: '64x32',
      seed: 7,
      files: [{ type: 'file', mediaType: 'image/png' }],
      mask: { type: 'file' },
      providerOptions: { test: { quality: 'high' } },
      abortSignal: signal,
    });
    expect(provider.models()).toMatchObject([{ id: 'p', type: 'image', provider: 'bridge', name: 'p' }]);
  });

  test('starts from an empty result with the oldest interface', async () => {
    const { model, calls } = scripted({ images: [JPEG] }, 'v2');
    const provider = getProvider({ id: 'p', type: 'image', model });
    expect(
      await toFailure(provider.image?.({ ...DRAW, source: PICTURE }, {}) as Promise<unknown>),
    ).toMatchObject({
      kind: 'invalid_request',
    });
    expect(calls).toHaveLength(0);
    expect((await provider.image?.(DRAW, {}))?.images).toHaveLength(1);
  });
});

test('returns speech in the requested format', async () => {
  const { model, calls } = scripted({ audio: Buffer.from('sound') });
  const provider = getProvider({ id: 's', type: 'text-to-speech', model });
  const request = { model: 's', text: 'Hi', format: 'opus', voice: 'amy', languageCode: 'de' } as const;
  expect(await provider.speech?.(request, {})).toEqual({
    mediaType: 'audio/ogg',
    data: Buffer.from('sound'),
  });
  expect(calls[0]).toEqual({ text: 'Hi', outputFormat: 'opus', voice: 'amy', language: 'de' });
});

test('transcribes recordings', async () => {
  const { model, calls } = scripted({ text: 'Hello.', segments: [], durationInSeconds: 3 });
  const provider = getProvider({ id: 't', type: 'speech-to-text', model });
  const audio = { mediaType: 'audio/wav', data: Buffer.from('x') };
  expect(await provider.transcribe?.({ model: 't', audio }, {})).toEqual({
    text: 'Hello.',
    usage: { seconds: 3 },
  });
  expect(calls[0]).toEqual({ audio: audio.data, mediaType: 'audio/wav' });
});

describe('media failures of the bridge', () => {
  test.each([
    [429, 'overloaded'],
    [401, 'rejected_key'],
    [500, 'failed'],
  ])('maps status %i to its kind and redacts the key', async (statusCode, kind) => {
    const error = Object.assign(new Error('no, my-secret'), { statusCode });
    const { model } = scripted(error);
    const provider = getProvider({ id: 'p', type: 'image', model, withKey: () => model });
    const failure = (await toFailure(
      provider.image?.(DRAW, { apiKey: 'my-secret' }) as Promise<unknown>,
    )) as Error;
    expect(failure).toMatchObject({ name: 'ProviderError', kind });
    expect(failure.message).not.toContain('my-secret');
  });

  test('rejects a model without images, an unusable key and a model of another kind', async () => {
    const { model } = scripted({ images: [] });
    const provider = getProvider({ id: 'p', type: 'image', model });
    const getKind = async (work: Promise<unknown> | undefined) =>
      ((await toFailure(work as Promise<unknown>)) as { kind?: string }).kind;
    expect(await getKind(provider.image?.(DRAW, {}))).toBe('failed');
    expect(await getKind(provider.image?.(DRAW, { apiKey: 'k' }))).toBe('not_configured');
    expect(await getKind(provider.speech?.({ model: 'p', text: 'x', format: 'mp3' }, {}))).toBe(
      'invalid_request',
    );
    expect(await getKind(provider.generate({ ...hello, model: 'p' }, {}))).toBe('invalid_request');
  });

  test('rejects at startup a model that cannot be bridged', () => {
    const { model } = scripted({}, 'v9');
    expect(() => getProvider({ id: 'p', type: 'image', model })).toThrow(TypeError);
    const good = scripted({}).model;
    const twice = { id: 'p', type: 'image', model: good } as const;
    expect(() => getProvider(twice, twice)).toThrow(/Two models/);
  });

  test('rethrows the abort when the caller leaves', async () => {
    const { model, calls } = scripted({ images: [JPEG] });
    const provider = getProvider({ id: 'p', type: 'image', model });
    const gone = new Error('gone');
    expect(
      await toFailure(provider.image?.(DRAW, { signal: AbortSignal.abort(gone) }) as Promise<unknown>),
    ).toBe(gone);
    expect(calls).toHaveLength(0);
  });
});
