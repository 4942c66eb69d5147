import { SAMPLE_MP3 } from './media-samples.ts';
import {
  type BinaryAnswer,
  type Protocol,
  startUpstream,
  type Upstream,
  type UpstreamOptions,
} from './server.ts';

const elevenLabsProtocol: Protocol = {
  basePath: '/v1',
  // Nothing here is a stream of events.
  frames: () => [],
  answer(path): BinaryAnswer | undefined {
    if (!/\/(?:text-to-speech\/[^/?]+|sound-generation|music)\?/.test(path)) return undefined;
    const plain = path.includes('output_format=pcm_');
    return plain
      ? { contentType: 'audio/pcm', data: Buffer.alloc(4800) }
      : { contentType: 'audio/mpeg', data: SAMPLE_MP3 };
  },
};

/** A local server that speaks the protocol of ElevenLabs: speech, sound effects and music. */
export function createElevenLabsUpstream(options?: UpstreamOptions): Promise<Upstream> {
  return startUpstream(elevenLabsProtocol, options);
}
