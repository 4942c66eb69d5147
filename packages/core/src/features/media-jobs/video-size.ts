import type { VideoRequest } from '../../ports/media.ts';

const shortSides: Readonly<Record<string, number>> = {
  '360p': 360,
  '480p': 480,
  '720p': 720,
  '1080p': 1080,
  '4k': 2160,
};

/**
 * Pixels of a video, for providers that require them: the resolution is the shorter side. Even numbers, as codecs require.
 * @returns undefined for an unknown aspect ratio or resolution.
 */
export function videoSize({
  resolution,
  aspectRatio,
}: Pick<VideoRequest, 'resolution' | 'aspectRatio'>): { width: number; height: number } | undefined {
  const short = shortSides[resolution];
  const [across = 0, down = 0] = aspectRatio.split(':').map(Number);
  if (short === undefined || !(across > 0 && down > 0)) return undefined;
  const long = Math.ceil((short * Math.max(across, down)) / Math.min(across, down) / 2) * 2;
  return across >= down ? { width: long, height: short } : { width: short, height: long };
}
