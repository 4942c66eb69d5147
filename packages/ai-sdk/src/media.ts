import type {
  ImageModelV4,
  ImageModelV4CallOptions,
  ImageModelV4File,
  SpeechModelV4,
  SpeechModelV4CallOptions,
  TranscriptionModelV4,
  TranscriptionModelV4CallOptions,
} from '@ai-sdk/provider';
import {
  type AudioFormat,
  type AudioResult,
  type GenerateOptions,
  type ImageRequest,
  type ImageResult,
  type Media,
  ProviderError,
  type SpeechRequest,
  type TranscribeRequest,
  type TranscribeResult,
} from '@questline/core';
import { providerError } from './errors.ts';
import { type AiSdkMediaModel, checkModelOf, type MediaModelOf } from './media-models.ts';

/** Who is asked, for error texts and keys. */
type Terms = GenerateOptions & { readonly provider: string };

/** Draws, or changes what it is given. Rejects with a `ProviderError`, or with the signal's reason. */
export function drawImages(
  entry: MediaModelOf<'image'>,
  request: ImageRequest,
  terms: Terms,
): Promise<ImageResult> {
  return asking(terms, async () => {
    const model = keyed(entry, terms);
    const pictures = [
      ...(request.source === undefined ? [] : [request.source]),
      ...(request.references ?? []),
    ];
    if (pictures.length > 0 && model.specificationVersion === 'v2') {
      throw new ProviderError('invalid_request', `${terms.provider}: '${entry.id}' takes no pictures`);
    }
    const { size, aspectRatio } = request;
    const call: ImageModelV4CallOptions = {
      prompt: request.prompt,
      n: request.count,
      size: size && `${size.width}x${size.height}`,
      aspectRatio: aspectRatio as ImageModelV4CallOptions['aspectRatio'],
      seed: request.seed,
      files: pictures.length === 0 ? undefined : pictures.map(fileOf),
      mask: request.mask && fileOf(request.mask),
      providerOptions: {},
      ...(terms.signal !== undefined && { abortSignal: terms.signal }),
    };
    // The older interfaces differ in what they know beside this.
    const { images, usage } = await (model as ImageModelV4).doGenerate(
      entry.prepare?.(call, request) ?? call,
    );
    if (images.length === 0)
      throw new ProviderError('failed', `${terms.provider}: answered without an image`);
    const { inputTokens: input, outputTokens: output } = usage ?? {};
    return {
      images: images.map((image) => pictureOf(bytesOf(image))),
      ...(input !== undefined && output !== undefined && { usage: { input, output } }),
    };
  });
}

/** Reads a text out. Rejects as `drawImages`. */
export function speak(
  entry: MediaModelOf<'text-to-speech'>,
  request: SpeechRequest,
  terms: Terms,
): Promise<AudioResult> {
  return asking(terms, async () => {
    const model = keyed(entry, terms) as SpeechModelV4;
    const { text, voice, format, languageCode } = request;
    const call: SpeechModelV4CallOptions = {
      text,
      outputFormat: format,
      ...(voice !== undefined && { voice }),
      ...(languageCode !== undefined && { language: languageCode }),
      ...(terms.signal !== undefined && { abortSignal: terms.signal }),
    };
    const { audio } = await model.doGenerate(entry.prepare?.(call, request) ?? call);
    const data = bytesOf(audio);
    if (data.length === 0) throw new ProviderError('failed', `${terms.provider}: answered without any sound`);
    return { mediaType: soundTypes[format], data };
  });
}

/** Writes down what is said. Rejects as `drawImages`. */
export function writeDown(
  entry: MediaModelOf<'speech-to-text'>,
  request: TranscribeRequest,
  terms: Terms,
): Promise<TranscribeResult> {
  return asking(terms, async () => {
    const model = keyed(entry, terms) as TranscriptionModelV4;
    const { mediaType, data } = request.audio;
    const call: TranscriptionModelV4CallOptions = {
      audio: data,
      mediaType,
      ...(terms.signal !== undefined && { abortSignal: terms.signal }),
    };
    const { text, durationInSeconds: seconds } = await model.doGenerate(
      entry.prepare?.(call, request) ?? call,
    );
    return { text, ...(seconds !== undefined && { usage: { seconds } }) };
  });
}

export async function asking<T>({ provider, apiKey, signal }: Terms, work: () => Promise<T>): Promise<T> {
  signal?.throwIfAborted();
  try {
    return await work();
  } catch (error) {
    signal?.throwIfAborted();
    throw providerError(error, provider, apiKey === undefined ? [] : [apiKey]);
  }
}

export function keyed<M>(
  entry: {
    readonly id: string;
    readonly type: AiSdkMediaModel['type'];
    readonly model: M;
    readonly withKey?: (apiKey: string) => M;
  },
  { provider, apiKey }: Terms,
): M {
  if (apiKey === undefined) return entry.model;
  // Falling back to the platform's key would make the platform pay for what the user meant to pay for.
  if (entry.withKey === undefined) {
    throw new ProviderError('not_configured', `${provider}: '${entry.id}' takes no keys of users`);
  }
  const model = entry.withKey(apiKey);
  checkModelOf(entry, model);
  return model;
}

function fileOf({ mediaType, data }: Media): ImageModelV4File {
  return { type: 'file', mediaType, data };
}

function bytesOf(data: string | Uint8Array): Uint8Array {
  return typeof data === 'string' ? Buffer.from(data, 'base64') : data;
}

/** The interface does not say what a picture is; its first bytes do. */
function pictureOf(data: Uint8Array): Media {
  const head = Buffer.from(data.subarray(0, 12)).toString('latin1');
  if (head.startsWith('\xff\xd8\xff')) return { mediaType: 'image/jpeg', data };
  if (head.startsWith('RIFF') && head.endsWith('WEBP')) return { mediaType: 'image/webp', data };
  return { mediaType: 'image/png', data };
}

const soundTypes: Readonly<Record<AudioFormat, string>> = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  pcm: 'audio/pcm',
};
