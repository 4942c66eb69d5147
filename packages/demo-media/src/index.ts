import type { Clock, MediaProvider, ModelInfo } from '@questline/core/ports';
import { demoCalls } from './calls.ts';
import { demoMediaModels } from './models.ts';
import { createDemoVideos } from './video.ts';

export interface DemoMediaOptions {
  /** Without a clock a video is done at once. */
  readonly clock?: Clock;
  /** A video takes 100 times as many milliseconds. Default 30. */
  readonly pauseMs?: number;
}

/**
 * Offline models for images, speech, sound effects, music, video and transcription, with invented prices. Deterministic:
 * the same request gets the same bytes. Files are small: images of at most 256 pixels per side, videos of at most 64.
 *
 * @example
 * createDemoProvider({ media: createDemoMedia() })
 */
export function createDemoMedia({ clock, pauseMs = 30 }: DemoMediaOptions = {}): MediaProvider & {
  readonly models: readonly ModelInfo[];
} {
  const pause = clock === undefined || pauseMs <= 0 ? undefined : { clock, pauseMs };
  return { models: demoMediaModels, ...demoCalls, video: createDemoVideos(pause) };
}
