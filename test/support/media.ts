import type {
  AudioResult,
  GenerateOptions,
  ImageRequest,
  ImageResult,
  ModelInfo,
  ModelProvider,
  MusicRequest,
  SoundEffectRequest,
  SpeechRequest,
  TranscribeRequest,
  TranscribeResult,
} from '@questline/core/ports';

/** A call of a media provider. */
export interface MediaCall<R = unknown, A = unknown> {
  readonly request: R;
  readonly options: GenerateOptions;
  answer(result: A): void;
  fail(error: unknown): void;
}

export const PICTURE = { mediaType: 'image/png', data: Buffer.from('a picture') };

export const IMAGE_MODEL: ModelInfo = {
  id: 'painter',
  name: 'Painter',
  type: 'image',
  provider: 'media',
  contextWindow: 0,
  maxOutputTokens: 0,
  image: {
    sizing: { kind: 'dimensions', min: 64, max: 2048 },
    supports: {
      transparent_background: false,
      seed: true,
      qualities: ['low', 'high'],
      max_images: 4,
      max_reference_images: 2,
      edit: true,
      requires_input_image: false,
    },
  },
  // Ten credits per image.
  prices: { image: 0.1 },
};

export interface Studio extends ModelProvider {
  readonly images: readonly MediaCall<ImageRequest, ImageResult>[];
}

/** A provider whose calls wait for the test, unless `onImage` answers them. */
export function createStudio(
  onImage: (call: MediaCall<ImageRequest, ImageResult>) => void = drawAll,
  models: readonly ModelInfo[] = [IMAGE_MODEL],
): Studio {
  const images: MediaCall<ImageRequest, ImageResult>[] = [];
  return {
    id: 'media',
    models: () => models,
    generate: () => Promise.reject(new Error('says nothing')),
    images,
    image: waiting(images, onImage),
  };
}

/** Returns the requested number of images. */
export function drawAll(call: MediaCall<ImageRequest, ImageResult>): void {
  call.answer({ images: Array.from({ length: call.request.count }, () => PICTURE) });
}

/** Records each call for the test; the caller's signal aborts it. */
function waiting<R, A>(calls: MediaCall<R, A>[], onCall: (call: MediaCall<R, A>) => void) {
  return (request: R, options: GenerateOptions): Promise<A> => {
    options.signal?.throwIfAborted();
    return new Promise<A>((answer, fail) => {
      options.signal?.addEventListener('abort', () => fail(options.signal?.reason), { once: true });
      const call: MediaCall<R, A> = { request, options, answer, fail };
      calls.push(call);
      onCall(call);
    });
  };
}

/** Audio of this many bytes. */
export function toAudio(bytes: number): AudioResult {
  return {
    mediaType: 'audio/mpeg',
    data: Buffer.from('ID3'.padEnd(bytes, '.')),
  };
}

const SOUND = { provider: 'media', contextWindow: 0, maxOutputTokens: 0 } as const;

export const SOUND_MODELS: readonly ModelInfo[] = [
  {
    ...SOUND,
    id: 'reader',
    name: 'Reader',
    type: 'text-to-speech',
    audio: { formats: ['mp3', 'wav'], maxCharacters: 4096, options: ['stability'] },
    // One credit per ten characters.
    prices: { thousandCharacters: 1 },
  },
  {
    ...SOUND,
    id: 'band',
    name: 'Band',
    type: 'music',
    audio: { formats: ['mp3'], maxCharacters: 2000, duration: { min: 5, max: 60 }, instrumental: 'none' },
    // One credit per second.
    prices: { second: 0.01 },
  },
  {
    ...SOUND,
    id: 'bang',
    name: 'Bang',
    type: 'sound-effect',
    audio: { formats: ['mp3'], maxCharacters: 1000, options: ['promptInfluence'] },
    prices: { second: 0.01 },
  },
  // A hundred credits per megabyte.
  { ...SOUND, id: 'listener', name: 'Listener', type: 'speech-to-text', prices: { megabyte: 1 } },
];

export type SoundCall =
  | MediaCall<SpeechRequest, AudioResult>
  | MediaCall<MusicRequest, AudioResult>
  | MediaCall<SoundEffectRequest, AudioResult>;

export interface SoundStudio extends ModelProvider {
  readonly sounds: readonly SoundCall[];
  readonly recordings: readonly MediaCall<TranscribeRequest, TranscribeResult>[];
}

/** A provider of audio and transcripts whose calls wait for the test. Its models are named after it. */
export function createSoundStudio(
  handlers: {
    readonly onSound?: (call: SoundCall) => void;
    readonly onRecording?: (call: MediaCall<TranscribeRequest, TranscribeResult>) => void;
  } = {},
  id = 'media',
  models: readonly ModelInfo[] = SOUND_MODELS,
): SoundStudio {
  const {
    onSound = (call) => call.answer(toAudio(100)),
    onRecording = (call) => call.answer({ text: 'Hello.' }),
  } = handlers;
  const sounds: SoundCall[] = [];
  const recordings: MediaCall<TranscribeRequest, TranscribeResult>[] = [];
  const infos = models.map((model) => ({
    ...model,
    id: id === 'media' ? model.id : `${model.id}-${id}`,
    provider: id,
  }));
  return {
    id,
    models: () => infos,
    generate: () => Promise.reject(new Error('says nothing')),
    sounds,
    recordings,
    speech: waiting(sounds as MediaCall<SpeechRequest, AudioResult>[], onSound),
    music: waiting(sounds as MediaCall<MusicRequest, AudioResult>[], onSound),
    soundEffect: waiting(sounds as MediaCall<SoundEffectRequest, AudioResult>[], onSound),
    transcribe: waiting(recordings, onRecording),
  };
}
