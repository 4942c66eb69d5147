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
} from '@questline/core/ports';
import { providerError } from './errors.ts';
import { type AiSdkMediaModel, checkMediaModel, type MediaModelByType } from './media-models.ts';

/** The provider, for error messages and keys. */
type CallInput = GenerateOptions & { readonly provider: string };

/** Generates or edits images. Rejects with a `ProviderError`, or with the signal's reason. */
export function drawImages(
  entry: MediaModelByType<'image'>,
  request: ImageRequest,
  context: CallInput,
): Promise<ImageResult> {
  return asking(context, async () => {
    const model = keyed(entry, context);
    const inputImages = [
      ...(request.source === undefined ? [] : [request.source]),
      ...(request.references ?? []),
    ];
    if (inputImages.length > 0 && model.specificationVersion === 'v2') {
      throw new ProviderError(
        'invalid_request',
        `${context.provider}: '${entry.id}' accepts no input images`,
      );
    }
    const { size, aspectRatio } = request;
    const call: ImageModelV4CallOptions = {
      prompt: request.prompt,
      n: request.count,
      size: size && `${size.width}x${size.height}`,
      aspectRatio: aspectRatio as ImageModelV4CallOptions['aspectRatio'],
      seed: request.seed,
      files: inputImages.length === 0 ? undefined : inputImages.map(makeFile),
      mask: request.mask && makeFile(request.mask),
      providerOptions: {},
      ...(context.signal !== undefined && { abortSignal: context.signal }),
    };
    // The older interfaces differ in the rest.
    const { images, usage } = await (model as ImageModelV4).doGenerate(
      entry.prepare?.(call, request) ?? call,
    );
    if (images.length === 0)
      throw new ProviderError('failed', `${context.provider}: the response contains no image`);
    const { inputTokens: input, outputTokens: output } = usage ?? {};
    return {
      images: images.map((image) => toImage(toBytes(image))),
      ...(input !== undefined && output !== undefined && { usage: { input, output } }),
    };
  });
}

/** Text-to-speech. Rejects as `drawImages`. */
export function speak(
  entry: MediaModelByType<'text-to-speech'>,
  request: SpeechRequest,
  context: CallInput,
): Promise<AudioResult> {
  return asking(context, async () => {
    const model = keyed(entry, context) as SpeechModelV4;
    const { text, voice, format, languageCode } = request;
    const call: SpeechModelV4CallOptions = {
      text,
      outputFormat: format,
      ...(voice !== undefined && { voice }),
      ...(languageCode !== undefined && { language: languageCode }),
      ...(context.signal !== undefined && { abortSignal: context.signal }),
    };
    const { audio } = await model.doGenerate(entry.prepare?.(call, request) ?? call);
    const data = toBytes(audio);
    if (data.length === 0)
      throw new ProviderError('failed', `${context.provider}: the response contains no audio`);
    return { mediaType: soundTypes[format], data };
  });
}

/** Speech-to-text. Rejects as `drawImages`. */
export function writeDown(
  entry: MediaModelByType<'speech-to-text'>,
  request: TranscribeRequest,
  context: CallInput,
): Promise<TranscribeResult> {
  return asking(context, async () => {
    const model = keyed(entry, context) as TranscriptionModelV4;
    const { mediaType, data } = request.audio;
    const call: TranscriptionModelV4CallOptions = {
      audio: data,
      mediaType,
      ...(context.signal !== undefined && { abortSignal: context.signal }),
    };
    const { text, durationInSeconds: seconds } = await model.doGenerate(
      entry.prepare?.(call, request) ?? call,
    );
    return { text, ...(seconds !== undefined && { usage: { seconds } }) };
  });
}

export async function asking<T>({ provider, apiKey, signal }: CallInput, work: () => Promise<T>): Promise<T> {
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
  { provider, apiKey }: CallInput,
): M {
  if (apiKey === undefined) return entry.model;
  // Falling back to the platform's key would charge the platform for the user's call.
  if (entry.withKey === undefined) {
    throw new ProviderError('not_configured', `${provider}: '${entry.id}' does not support user keys`);
  }
  const model = entry.withKey(apiKey);
  checkMediaModel(entry, model);
  return model;
}

function makeFile({ mediaType, data }: Media): ImageModelV4File {
  return { type: 'file', mediaType, data };
}

function toBytes(data: string | Uint8Array): Uint8Array {
  return typeof data === 'string' ? Buffer.from(data, 'base64') : data;
}

/** Detects the type from the first bytes: the interface does not report it. */
function toImage(data: Uint8Array): Media {
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
