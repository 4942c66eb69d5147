import type { GenerateOptions, ModelProvider } from '@questline/core/ports';
import { typed } from '../http/multipart.ts';
import type { Upstream, UpstreamCall } from '../http/upstream.ts';
import { speechBody, speechResult, transcriptionForm, transcriptionResult } from './audio.ts';
import { embeddingBody, embeddingResult } from './embeddings.ts';
import { drawImages } from './images.ts';
import { createVideos } from './videos.ts';

/** The key and headers of a call. Throws without a key. */
export type Access = (call: GenerateOptions) => Pick<UpstreamCall, 'key' | 'headers'>;

type Media = Required<Pick<ModelProvider, 'embed' | 'image' | 'speech' | 'transcribe' | 'video'>>;

/** The media endpoints: embeddings, images, speech, transcription, video. */
export function createMedia(upstream: Upstream, access: Access): Media {
  return {
    async embed(request, call) {
      const body = JSON.stringify(embeddingBody(request));
      const answer = await upstream.json({
        ...access(call),
        path: '/embeddings',
        body,
        signal: call.signal,
      });
      return embeddingResult(answer, request.inputs.length);
    },

    async image(request, { signal, ...call }) {
      const { key, headers } = access(call);
      return drawImages(upstream, request, { headers: (type) => typed(headers, type), key, signal });
    },

    async speech(request, { signal, ...call }) {
      const body = speechBody(request);
      const answer = await upstream.bytes({ ...access(call), path: '/audio/speech', body, signal });
      return speechResult(request.format, answer.data);
    },

    async transcribe(request, { signal, ...call }) {
      const { key, headers } = access(call);
      const { contentType, body } = transcriptionForm(request);
      const answer = await upstream.json({
        path: '/audio/transcriptions',
        headers: typed(headers, contentType),
        body,
        key,
        signal,
      });
      return transcriptionResult(answer);
    },

    video: createVideos(upstream, access),
  };
}
