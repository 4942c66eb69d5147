import {
  type AudioFormat,
  type Media,
  ProviderError,
  type SpeechRequest,
  type TranscribeRequest,
  type TranscribeResult,
} from '@questline/core/ports';
import { record } from '../content/fields.ts';
import { type FormField, multipart } from '../http/multipart.ts';

const DEFAULT_VOICE = 'alloy';

/** The vendor's names of the formats. Its `pcm` is 24 kHz, 16 bits, one channel. */
const mediaTypes: Readonly<Record<AudioFormat, string>> = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  pcm: 'audio/pcm',
};

export function speechBody({ model, text, voice, format }: SpeechRequest): string {
  return JSON.stringify({ model, input: text, voice: voice ?? DEFAULT_VOICE, response_format: format });
}

export function speechResult(format: AudioFormat, data: Uint8Array): Media {
  if (data.length === 0) throw new ProviderError('failed', 'the response contains no audio');
  return { mediaType: mediaTypes[format], data };
}

/** The service detects the type by the file extension. */
const endings: Readonly<Record<string, string>> = {
  'audio/mpeg': 'mp3',
  'audio/mp4': 'mp4',
  'audio/wav': 'wav',
  'audio/webm': 'webm',
  'audio/ogg': 'ogg',
  'audio/flac': 'flac',
};

export function transcriptionForm({ model, audio }: TranscribeRequest): ReturnType<typeof multipart> {
  const fields: FormField[] = [
    { name: 'model', value: model },
    { name: 'response_format', value: 'json' },
    {
      name: 'file',
      filename: `audio.${endings[audio.mediaType] ?? 'mp3'}`,
      mediaType: audio.mediaType,
      data: audio.data,
    },
  ];
  return multipart(fields);
}

export function transcriptionResult(answer: unknown): TranscribeResult {
  const { text, usage } = record(answer);
  if (typeof text !== 'string') throw new ProviderError('failed', 'answered without a text');
  const { type, seconds, input_tokens: input, output_tokens: output } = record(usage);
  if (type === 'duration' && typeof seconds === 'number') return { text, usage: { seconds } };
  if (type === 'tokens' && typeof input === 'number' && typeof output === 'number') {
    return { text, usage: { input, output } };
  }
  return { text };
}
