import { type MediaProvider, ProviderError } from '@questline/core/ports';
import { beeps } from './audio.ts';
import { drawImage } from './image.ts';
import { demoMediaModels } from './models.ts';

const SIDE = 1024;

/** Calls of offline models for images, audio and transcriptions. */
export const demoCalls: Required<
  Pick<MediaProvider, 'image' | 'speech' | 'soundEffect' | 'music' | 'transcribe'>
> = {
  async image(request, { signal }) {
    checkCall(request.model, 'image', signal);
    const [across = 1, down = 1] = (request.aspectRatio ?? '').split(':').map(Number);
    const width = request.size?.width ?? SIDE;
    const height = request.size?.height ?? Math.round((width * (down || 1)) / (across || 1));
    const format = request.outputFormat ?? 'png';
    if (format === 'webp') throw new ProviderError('invalid_request', 'The demo provider draws png and jpeg');
    const images = Array.from({ length: request.count }, (_, place) => ({
      mediaType: `image/${format}`,
      data: drawImage(request.prompt, { width, height, seed: (request.seed ?? 0) + place, format }),
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
