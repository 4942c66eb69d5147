import { describe, expect, test } from 'vitest';
import { type AiSdkMediaModel, createAiSdkProvider } from '../src/index.ts';
import { scripted as scriptedText, toFailure } from './scripted.ts';

const gone = new Error('gone');
const SOUND = Buffer.from('s');
const AUDIO = { mediaType: 'audio/wav', data: Buffer.from('x') };
const picture = (text: string) => ({ mediaType: 'image/png', data: Buffer.from(text) });

/** A media model of any kind with this answer, which may depend on the call. */
function scripted(answer: object | ((call: Record<string, unknown>) => object), more: object = {}) {
  const calls: Record<string, unknown>[] = [];
  const model = {
    specificationVersion: 'v4',
    provider: 'test.media',
    modelId: 'm',
    async doGenerate(call: Record<string, unknown>) {
      calls.push(call);
      return typeof answer === 'function' ? answer(call) : answer;
    },
    ...more,
  };
  return { calls, model: model as never };
}

const open = (type: 'image' | 'text-to-speech' | 'speech-to-text', model: never, more: object = {}) =>
  createAiSdkProvider({
    id: 'bridge',
    models: [],
    media: [{ id: 'm', type, model, ...more } as AiSdkMediaModel],
  });

const ASK = {
  image: (provider: ReturnType<typeof open>, options: object = {}) =>
    provider.image?.({ model: 'm', prompt: 'A', count: 1 }, options),
  'text-to-speech': (provider: ReturnType<typeof open>, options: object = {}) =>
    provider.speech?.({ model: 'm', text: 'A', format: 'mp3' }, options),
  'speech-to-text': (provider: ReturnType<typeof open>, options: object = {}) =>
    provider.transcribe?.({ model: 'm', audio: AUDIO }, options),
};
const KINDS = ['image', 'text-to-speech', 'speech-to-text'] as const;
const ANSWER = { images: [Buffer.from('i')], audio: SOUND, text: 'Hi' };

describe.each(KINDS)('call of a model of the kind %s', (kind) => {
  test('has the signal of the caller, and the changes of the host', async () => {
    const { calls, model } = scripted(ANSWER);
    const { signal } = new AbortController();
    const prepare = (call: object) => ({ ...call, changed: true });
    await ASK[kind](open(kind, model, { prepare }), { signal });
    expect(calls[0]).toMatchObject({ abortSignal: signal, changed: true });
    await ASK[kind](open(kind, model));
    expect(calls[1]).not.toHaveProperty('abortSignal');
    expect(calls[1]).not.toHaveProperty('changed');
  });

  test('rejects with the reason of an abort while it is made', async () => {
    const abort = new AbortController();
    const { model } = scripted(() => {
      abort.abort(gone);
      throw new Error('closed');
    });
    expect(await toFailure(ASK[kind](open(kind, model), { signal: abort.signal }) as Promise<unknown>)).toBe(
      gone,
    );
  });

  test('needs a model of its kind for a key of the user', async () => {
    const { model } = scripted(ANSWER);
    const provider = open(kind, model, { withKey: () => ({}) });
    expect(await toFailure(ASK[kind](provider, { apiKey: 'k' }) as Promise<unknown>)).toMatchObject({
      name: 'ProviderError',
      message: expect.stringContaining("Model 'm' is no image, speech or transcription model"),
    });
  });

  test('is refused at startup without a model that generates', () => {
    for (const model of [null, undefined, scripted(ANSWER, { doGenerate: undefined }).model]) {
      expect(() => open(kind, model as never)).toThrow(
        "Model 'm' is no image, speech or transcription model",
      );
    }
  });
});

describe('images of an SDK model', () => {
  test('are made from the source and the references', async () => {
    const { calls, model } = scripted(ANSWER);
    const request = { model: 'm', prompt: 'A', count: 1, references: [picture('r')] };
    await open('image', model).image?.({ ...request, source: picture('s') }, {});
    await open('image', model).image?.(request, {});
    const files = calls.map((call) => (call.files as { data: Buffer }[]).map(({ data }) => data.toString()));
    expect(files).toEqual([['s', 'r'], ['r']]);
  });

  test.each([
    ['RIFF....WEBPVP8 ', 'image/webp'],
    ['RIFF....WAVEfmt ', 'image/png'],
    ['FORM....WEBPVP8 ', 'image/png'],
    ['RIFF', 'image/png'],
  ])('that begin with %j have the type %s', async (head, mediaType) => {
    const { model } = scripted({ images: [Buffer.from(head)] });
    expect(
      (await open('image', model).image?.({ model: 'm', prompt: 'A', count: 1 }, {}))?.images,
    ).toMatchObject([{ mediaType }]);
  });
});

test('speech without audio is a failure', async () => {
  const ask = (audio: Buffer) => ASK['text-to-speech'](open('text-to-speech', scripted({ audio }).model));
  expect(await ask(SOUND)).toEqual({ mediaType: 'audio/mpeg', data: SOUND });
  expect(await toFailure(ask(Buffer.alloc(0)) as Promise<unknown>)).toMatchObject({
    kind: 'failed',
    message: 'bridge: the response contains no audio',
  });
});

describe('models of the bridge', () => {
  test('have no tokens where they make media', () => {
    const provider = open('image', scripted(ANSWER).model);
    expect(provider.models()).toEqual([
      { id: 'm', name: 'm', type: 'image', provider: 'bridge', contextWindow: 0, maxOutputTokens: 0 },
    ]);
  });

  test('have one id each, also among different kinds', () => {
    const { model } = scriptedText([]);
    expect(() =>
      createAiSdkProvider({
        id: 'bridge',
        models: [{ id: 'm', contextWindow: 1, maxOutputTokens: 1, model }],
        media: [{ id: 'm', type: 'image', model: scripted(ANSWER).model }],
      }),
    ).toThrow("Two models have the id 'm'");
  });

  test('embed where they do not stream', () => {
    const model = { ...scriptedText([]).model, doStream: undefined, doEmbed: () => undefined } as never;
    const provider = createAiSdkProvider({
      id: 'bridge',
      models: [{ id: 'm', contextWindow: 1, maxOutputTokens: 0, model }],
    });
    expect(provider.models()).toMatchObject([{ type: 'embedding' }]);
  });

  test('with a key of the user are models of the SDK, too', async () => {
    const { model } = scriptedText([]);
    const provider = createAiSdkProvider({
      id: 'bridge',
      models: [{ id: 'm', contextWindow: 1, maxOutputTokens: 1, model, withKey: () => ({}) as never }],
    });
    const call = provider.generate({ model: 'm', messages: [], maxTokens: 1 }, { apiKey: 'k' });
    expect(await toFailure(call)).toMatchObject({ message: expect.stringContaining("version 'undefined'") });
  });
});

describe('videos of an SDK model', () => {
  const VIDEO = { specificationVersion: 'v4', provider: 'test.video', modelId: 'm' };

  function createVideo(status: object, mediaType = 'video/webm') {
    const looks: Record<string, unknown>[] = [];
    const fetches: unknown[] = [];
    const model = {
      ...VIDEO,
      doStart: async () => ({ operation: 'o' }),
      async doStatus(call: Record<string, unknown>) {
        looks.push(call);
        return status;
      },
    };
    const { video } = createAiSdkProvider({
      id: 'bridge',
      models: [],
      media: [{ id: 'm', type: 'video', model: model as never }],
      async fetchFile(_url, _terms, options) {
        fetches.push(options);
        return { mediaType, data: SOUND };
      },
    });
    if (video === undefined) throw new Error('makes no videos');
    return { video, looks, fetches };
  }

  const JOB = JSON.stringify({ model: 'm', operation: 'o' });

  test('are looked at and fetched with the signal of the caller', async () => {
    const { video, looks, fetches } = createVideo({ status: 'pending' });
    const { signal } = new AbortController();
    await video.poll(JOB, { signal });
    await video.poll(JOB, {});
    expect(looks[0]).toEqual({ operation: 'o', abortSignal: signal });
    expect(looks[1]).toEqual({ operation: 'o' });
    expect(looks[1]).not.toHaveProperty('abortSignal');
    const output = { url: 'https://example.com/v' };
    expect((await video.fetch(output, { signal })).mediaType).toBe('video/webm');
    await video.fetch(output, {});
    expect(fetches).toEqual([{ signal }, {}]);
    const plain = createVideo({ status: 'pending' }, 'application/octet-stream').video;
    expect((await plain.fetch(output, {})).mediaType).toBe('video/mp4');
  });

  test('are none of a job of another provider', async () => {
    const { video } = createVideo({ status: 'pending' });
    await expect(video.poll('another', {})).rejects.toMatchObject({
      kind: 'failed',
      message: 'this is not a job of a bridged model',
      cause: expect.any(SyntaxError),
    });
  });

  test('need a model that starts and looks', () => {
    for (const missing of ['doStart', 'doStatus']) {
      const model = { ...VIDEO, doStart: () => 1, doStatus: () => 1, [missing]: undefined };
      expect(() =>
        createAiSdkProvider({
          id: 'bridge',
          models: [],
          media: [{ id: 'm', type: 'video', model: model as never }],
          fetchFile: async () => ({ mediaType: '', data: SOUND }),
        }),
      ).toThrow("Model 'm' is no video model");
    }
  });
});
