import {
  type Clock,
  type Json,
  type MediaJobs,
  ProviderError,
  type VideoRequest,
} from '@questline/core/ports';
import { type Colour, encodeFrame } from './frames.ts';
import { encodeMp4 } from './mp4.ts';
import { computeHash } from './words.ts';

const MAX_SIDE = 64;
/** Frames per second. */
const FRAMES = 2;
const MAX_FRAMES = 40;
/** Duration of a video job, in pauses of an answer chunk. */
const PAUSES = 100;

interface Order {
  readonly colours: readonly [string, string];
  readonly width: number;
  readonly height: number;
  readonly seconds: number;
  readonly orderedAt: number;
}

/** Creates offline video jobs. The job id contains the complete request, so jobs survive restarts. */
export function createDemoVideos(
  pause: { clock: Clock; pauseMs: number } | undefined,
): MediaJobs<VideoRequest> {
  return {
    async submit(request, { signal }) {
      signal?.throwIfAborted();
      if (request.model !== 'demo-video') {
        throw new ProviderError('invalid_request', `The demo provider has no video model '${request.model}'`);
      }
      const [across = 1, down = 1] = request.aspectRatio.split(':').map(Number);
      const even = (side: number): number =>
        Math.max(2, Math.round((MAX_SIDE * side) / Math.max(across, down) / 2) * 2);
      const begin = Buffer.from(request.image?.data.subarray(0, 4096) ?? []).toString('latin1');
      return [
        'demo-film',
        hex(computeHash(request.prompt)),
        hex(computeHash(`${request.prompt} ${begin}`)),
        even(across),
        even(down),
        Math.round(request.durationSeconds * 1000),
        Math.round(pause?.clock.now() ?? 0),
      ].join('-');
    },
    async poll(jobId, { signal }) {
      signal?.throwIfAborted();
      const { seconds, orderedAt } = getOrder(jobId);
      if (pause !== undefined) {
        const takes = pause.pauseMs * PAUSES;
        const elapsed = pause.clock.now() - orderedAt;
        if (elapsed < takes) return { state: 'running', progress: Math.max(0, elapsed / takes) };
      }
      return { state: 'done', output: jobId, durationSeconds: seconds };
    },
    async fetch(output, { signal }) {
      signal?.throwIfAborted();
      const video = draw(getOrder(output));
      return {
        mediaType: 'video/mp4',
        body: (async function* () {
          yield video;
        })(),
      };
    },
  };
}

const hex = (number: number): string => (number >>> 0).toString(16);

function getOrder(jobId: Json): Order {
  const match = /^demo-film-([0-9a-f]+)-([0-9a-f]+)-(\d+)-(\d+)-(\d+)-(\d+)$/.exec(String(jobId));
  if (match === null) throw new ProviderError('failed', 'The demo provider has no such video');
  const [, from = '', to = '', width, height, milliseconds, orderedAt] = match;
  return {
    colours: [from, to],
    width: Number(width),
    height: Number(height),
    seconds: Number(milliseconds) / 1000,
    orderedAt: Number(orderedAt),
  };
}

/** A gradient between two colours that moves once across the frame. */
function draw({ colours, width, height, seconds }: Order): Uint8Array {
  const count = Math.min(MAX_FRAMES, Math.max(2, Math.round(seconds * FRAMES)));
  const [from, to] = [getColour(colours[0]), getColour(colours[1])];
  const frames = Array.from({ length: count }, (_, number) =>
    encodeFrame({ width, height }, number, (x, y) => {
      const place = (x + y) / (width + height) + number / count;
      // Forth and back, so that the video loops.
      return mixed(from, to, Math.abs(1 - 2 * (place % 1)));
    }),
  );
  return encodeMp4({ width, height }, frames, seconds);
}

/** Clamps to the valid range of luma and chroma. */
function getColour(text: string): Colour {
  const hash = Number.parseInt(text, 16);
  return [48 + (hash & 0x7f), 64 + ((hash >>> 8) & 0x7f), 64 + ((hash >>> 16) & 0x7f)];
}

function mixed(from: Colour, to: Colour, share: number): Colour {
  const part = (index: 0 | 1 | 2): number => Math.round(from[index] * (1 - share) + to[index] * share);
  return [part(0), part(1), part(2)];
}
