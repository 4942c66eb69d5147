import { SAMPLE_MP3, SAMPLE_PNG } from './media-samples.ts';
import type { BinaryAnswer } from './protocol.ts';

/** Image, speech and transcription endpoints of the OpenAI upstream. Undefined for any other path. */
export function openAIMedia(path: string, body: unknown): unknown {
  if (path.endsWith('/images/generations')) return images(Number((body as { n?: number }).n ?? 1));
  if (path.endsWith('/images/edits'))
    return images(Number(/name="n"\r\n\r\n(\d+)/.exec(String(body))?.[1] ?? 1));
  if (path.endsWith('/audio/speech'))
    return { contentType: 'audio/mpeg', data: SAMPLE_MP3 } satisfies BinaryAnswer;
  if (path.endsWith('/audio/transcriptions')) {
    return { text: 'Hello from the recording.', usage: { type: 'duration', seconds: 3 } };
  }
  return undefined;
}

function images(count: number): unknown {
  return {
    created: 1_790_000_000,
    data: Array.from({ length: count }, () => ({ b64_json: SAMPLE_PNG.toString('base64') })),
    output_format: 'png',
    usage: { input_tokens: 20, output_tokens: 1000 * count, total_tokens: 20 + 1000 * count },
  };
}
