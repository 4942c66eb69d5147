import type { MediaProvider } from '../../ports/media.ts';
import { ProviderError } from '../../ports/models.ts';
import { demoMediaModels } from './media-models.ts';
import { drawPicture } from './picture.ts';
import { beeps } from './sound.ts';

const SIDE = 1024;

/** Pictures, sounds and transcriptions that need no key and no network. */
export const demoMedia: Required<
  Pick<MediaProvider, 'image' | 'speech' | 'soundEffect' | 'music' | 'transcribe'>
> = {
  async image(request, { signal }) {
    checkCall(request.model, 'image', signal);
    const [across = 1, down = 1] = (request.aspectRatio ?? '').split(':').map(Number);
    const width = request.size?.width ?? SIDE;
    const height = request.size?.height ?? Math.round((width * (down || 1)) / (across || 1));
    const images = Array.from({ length: request.count }, (_, place) => ({
      mediaType: 'image/png',
      data: drawPicture(request.prompt, width, height, (request.seed ?? 0) + place),
    }));
    return { images };
  },
  async speech(request, { signal }) {
    checkCall(request.model, 'text-to-speech', signal);
    return beeps(request.text, request.format);
  },
  async soundEffect(request, { signal }) {
    checkCall(request.model, 'sound-effect', signal);
    return beeps(request.text, request.format, request.durationSeconds);
  },
  async music(request, { signal }) {
    checkCall(request.model, 'music', signal);
    return beeps(request.prompt, request.format, request.lengthMs / 1000);
  },
  async transcribe(request, { signal }) {
    checkCall(request.model, 'speech-to-text', signal);
    const { mediaType, data } = request.audio;
    return { text: `A recording of type ${mediaType} with ${data.length} bytes.` };
  },
};

function checkCall(model: string, type: string, signal: AbortSignal | undefined): void {
  signal?.throwIfAborted();
  if (demoMediaModels.some((known) => known.id === model && known.type === type)) return;
  throw new ProviderError('invalid_request', `The demo provider has no model '${model}' of type ${type}`);
}
