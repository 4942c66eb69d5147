import type { Clock } from '../../ports/clock.ts';
import type { MediaJobs, VideoRequest } from '../../ports/media.ts';
import { ProviderError } from '../../ports/models.ts';
import type { Json } from '../../ports/store.ts';
import { hashOf } from './embedding.ts';
import { type Colour, encodeFrame } from './frames.ts';
import { mp4Of } from './mp4.ts';

const LONGEST_SIDE = 64;
/** A second. */
const FRAMES = 2;
const MOST_FRAMES = 40;
/** How much longer than a piece of an answer a film takes. */
const PAUSES = 100;

interface Order {
  readonly colours: readonly [string, string];
  readonly width: number;
  readonly height: number;
  readonly seconds: number;
  readonly orderedAt: number;
}

/**
 * Films that need no key and no network. All there is to know of one stands in its id, so that it survives whoever
 * ordered it.
 */
export function demoFilms(pause: { clock: Clock; pauseMs: number } | undefined): MediaJobs<VideoRequest> {
  return {
    async submit(request, { signal }) {
      signal?.throwIfAborted();
      if (request.model !== 'demo-video') {
        throw new ProviderError('invalid_request', `The demo provider has no video model '${request.model}'`);
      }
      const [across = 1, down = 1] = request.aspectRatio.split(':').map(Number);
      const even = (side: number): number =>
        Math.max(2, Math.round((LONGEST_SIDE * side) / Math.max(across, down) / 2) * 2);
      const begin = Buffer.from(request.image?.data.subarray(0, 4096) ?? []).toString('latin1');
      return [
        'demo-film',
        hex(hashOf(request.prompt)),
        hex(hashOf(`${request.prompt} ${begin}`)),
        even(across),
        even(down),
        Math.round(request.durationSeconds * 1000),
        Math.round(pause?.clock.now() ?? 0),
      ].join('-');
    },
    async poll(jobId, { signal }) {
      signal?.throwIfAborted();
      const { seconds, orderedAt } = orderOf(jobId);
      const takes = pause === undefined ? 0 : pause.pauseMs * PAUSES;
      const elapsed = (pause?.clock.now() ?? 0) - orderedAt;
      if (elapsed >= takes || pause === undefined)
        return { state: 'done', output: jobId, durationSeconds: seconds };
      return { state: 'running', progress: Math.max(0, elapsed / takes) };
    },
    async fetch(output, { signal }) {
      signal?.throwIfAborted();
      const film = draw(orderOf(output));
      return {
        mediaType: 'video/mp4',
        body: (async function* () {
          yield film;
        })(),
      };
    },
  };
}

const hex = (number: number): string => (number >>> 0).toString(16);

function orderOf(jobId: Json): Order {
  const match = /^demo-film-([0-9a-f]+)-([0-9a-f]+)-(\d+)-(\d+)-(\d+)-(\d+)$/.exec(String(jobId));
  if (match === null) throw new ProviderError('failed', 'The demo provider knows no such film');
  const [, from = '', to = '', width, height, milliseconds, orderedAt] = match;
  return {
    colours: [from, to],
    width: Number(width),
    height: Number(height),
    seconds: Number(milliseconds) / 1000,
    orderedAt: Number(orderedAt),
  };
}

/** A gradient between two colours that wanders once through the picture. */
function draw({ colours, width, height, seconds }: Order): Uint8Array {
  const count = Math.min(MOST_FRAMES, Math.max(2, Math.round(seconds * FRAMES)));
  const [from, to] = [colourOf(colours[0]), colourOf(colours[1])];
  const frames = Array.from({ length: count }, (_, number) =>
    encodeFrame({ width, height }, number, (x, y) => {
      const place = (x + y) / (width + height) + number / count;
      // There and back, so that the end meets the beginning.
      return mixed(from, to, Math.abs(1 - 2 * (place % 1)));
    }),
  );
  return mp4Of({ width, height }, frames, seconds);
}

/** Within what luma and chroma may be. */
function colourOf(text: string): Colour {
  const hash = Number.parseInt(text, 16);
  return [48 + (hash & 0x7f), 64 + ((hash >>> 8) & 0x7f), 64 + ((hash >>> 16) & 0x7f)];
}

function mixed(from: Colour, to: Colour, share: number): Colour {
  const part = (index: 0 | 1 | 2): number => Math.round(from[index] * (1 - share) + to[index] * share);
  return [part(0), part(1), part(2)];
}
