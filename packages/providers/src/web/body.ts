import { WebToolError } from '@questline/core/ports';
import type { Dispatcher } from 'undici';
import { decodeContent } from './content-coding.ts';

type Answer = Pick<Dispatcher.ResponseData, 'body' | 'headers'>;

/** Reads a body up to a number of bytes, or a little more, and discards the rest. */
export async function readBeginning({ body, headers }: Answer, bytes: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of decodeContent(body, headers['content-encoding'])) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size > bytes) break;
  }
  return Buffer.concat(chunks);
}

/** Reads a body as a whole. @throws WebToolError for a longer one. */
export async function readWhole(answer: Answer, maxBytes: number): Promise<Uint8Array> {
  const bytes = await readBeginning(answer, maxBytes);
  if (bytes.length <= maxBytes) return bytes;
  throw new WebToolError('INVALID_INPUT', `url: the file is larger than ${maxBytes} bytes.`);
}
