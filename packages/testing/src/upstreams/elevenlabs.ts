import { SAMPLE_MP3 } from './media-samples.ts';
import type { BinaryAnswer, Protocol } from './protocol.ts';
import { startUpstream } from './server.ts';
import type { Upstream, UpstreamOptions } from './upstream.ts';

const elevenLabsProtocol: Protocol = {
  basePath: '/v1',
  // This API has no event streams.
  frames: () => [],
  answer(path): BinaryAnswer | undefined {
    if (!/\/(?:text-to-speech\/[^/?]+|sound-generation|music)\?/.test(path)) return undefined;
    const plain = path.includes('output_format=pcm_');
    return plain
      ? { contentType: 'audio/pcm', data: Buffer.alloc(4800) }
      : { contentType: 'audio/mpeg', data: SAMPLE_MP3 };
  },
};

/** A local server of the ElevenLabs protocol: speech, sound effects and music. */
export function createElevenLabsUpstream(options?: UpstreamOptions): Promise<Upstream> {
  return startUpstream(elevenLabsProtocol, options);
}
