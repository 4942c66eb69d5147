import { SAMPLE_MP4 } from './media-samples.ts';

/** The outcome of a video job. */
export interface VideoScript {
  /** Number of polls before it ends. Default 1. `Infinity`: never. */
  readonly looks?: number;
  /** Its outcome. Default `done`. */
  readonly end?: 'done' | 'failed' | 'blocked';
  /** The delivered bytes. Default: the header of an MP4. */
  readonly data?: Uint8Array;
  /** Its URL, for protocols that return one. Default: a URL of this server. */
  readonly address?: string;
}

/** The progress of a video job. */
export interface VideoLook {
  readonly state: 'waiting' | 'running' | 'done' | 'failed' | 'blocked';
  /** 0 to 1. */
  readonly progress: number;
  readonly script: VideoScript;
}

/** The video jobs of one upstream. */
export interface Videos {
  /** @returns its id. */
  order(script: VideoScript | undefined): string;
  /** Counts as a poll. Undefined: unknown job. */
  look(id: string): VideoLook | undefined;
  /** Whether the job existed. */
  forget(id: string): boolean;
  data(id: string): Uint8Array | undefined;
}

export function createVideos(): Videos {
  const videos = new Map<string, { readonly script: VideoScript; looks: number }>();
  let count = 0;
  return {
    order(script = {}) {
      count += 1;
      const id = `video-${count}`;
      videos.set(id, { script, looks: 0 });
      return id;
    },
    look(id) {
      const video = videos.get(id);
      if (video === undefined) return undefined;
      video.looks += 1;
      const { looks = 1, end = 'done' } = video.script;
      if (video.looks > looks) return { state: end, progress: 1, script: video.script };
      const progress = Number.isFinite(looks) ? (video.looks - 1) / looks : 0;
      return { state: video.looks === 1 ? 'waiting' : 'running', progress, script: video.script };
    },
    forget: (id) => videos.delete(id),
    data: (id) => (videos.has(id) ? (videos.get(id)?.script.data ?? SAMPLE_MP4) : undefined),
  };
}
