import { type AudioFormat, type AudioResult, ProviderError } from '@questline/core/ports';

interface Format {
  /** The service's name of the format. */
  readonly name: string;
  readonly mediaType: string;
  /** Bytes per second, to compute the duration. */
  readonly bytesPerSecond: number;
}

const PCM: Format = { name: 'pcm_24000', mediaType: 'audio/pcm', bytesPerSecond: 48_000 };

const formats: Partial<Readonly<Record<AudioFormat, Format>>> = {
  mp3: { name: 'mp3_44100_128', mediaType: 'audio/mpeg', bytesPerSecond: 16_000 },
  opus: { name: 'opus_48000_128', mediaType: 'audio/ogg', bytesPerSecond: 16_000 },
  pcm: PCM,
  // Not every plan includes WAV, so we request plain samples and add the header.
  wav: { ...PCM, mediaType: 'audio/wav' },
};

/** The supported formats. */
export const FORMATS = ['mp3', 'wav', 'opus', 'pcm'] as const satisfies readonly AudioFormat[];

export function outputFormat(format: AudioFormat): string {
  return getFormat(format).name;
}

/** The received audio with its duration. */
export function toAudio(format: AudioFormat, data: Uint8Array): AudioResult {
  const { mediaType, bytesPerSecond } = getFormat(format);
  if (data.length === 0) throw new ProviderError('failed', 'the response contains no audio');
  const seconds = Math.round((data.length / bytesPerSecond) * 1000) / 1000;
  return { mediaType, data: format === 'wav' ? withWaveHead(data) : data, usage: { seconds } };
}

function getFormat(format: AudioFormat): Format {
  const known = formats[format];
  if (known === undefined) throw new ProviderError('invalid_request', `does not make ${format}`);
  return known;
}

/** 24 kHz, 16 bits, one channel. */
function withWaveHead(samples: Uint8Array): Uint8Array {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(36 + samples.length, 4);
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(24_000, 24);
  head.writeUInt32LE(48_000, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
}
