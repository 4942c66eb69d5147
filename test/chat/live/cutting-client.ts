import { get, type IncomingMessage } from 'node:http';
import type { Random } from '@questline/testing';
import { createFollower, createFrameParser, type Followed } from '../../support/live-events.ts';

export interface CutOptions {
  readonly url: string;
  readonly key: string;
  readonly random: Random;
  /** Number of connections to cut. The following ones are left alone. */
  readonly cuts: number;
}

export interface CutResult extends Followed {
  readonly cutConnections: number;
}

/** Follows the events of a quest over connections that break at random bytes. */
export async function followWithCuts({ url, key, random, cuts }: CutOptions): Promise<CutResult> {
  const follower = createFollower();
  let cutConnections = 0;
  for (;;) {
    const isCut = cutConnections < cuts;
    // Some connections break before the first frame, some in the middle of a later one, all before the long last one.
    const bytes = isCut ? 1 + random.below(600) : Number.POSITIVE_INFINITY;
    const { isWhole, status } = await readBytes(url, key, follower, bytes);
    if (status === 204 || (isWhole && !isCut)) break;
    if (!isWhole) cutConnections += 1;
  }
  return Object.assign(follower, { cutConnections });
}

/** Reads one connection until it ends or has sent `bytes` bytes, and applies the frames that arrived completely. */
async function readBytes(
  url: string,
  key: string,
  follower: Followed,
  bytes: number,
): Promise<{ readonly isWhole: boolean; readonly status: number }> {
  const headers = {
    Authorization: `Bearer ${key}`,
    ...(follower.lastId !== undefined && { 'Last-Event-ID': follower.lastId }),
  };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers, agent: false }, resolve).on('error', reject);
  });
  const status = response.statusCode ?? 0;
  if (status !== 200 && status !== 204) throw new Error(`the events answered ${status}`);
  const parse = createFrameParser();
  const decoder = new TextDecoder();
  let left = bytes;
  try {
    for await (const chunk of response) {
      const part = (chunk as Buffer).subarray(0, left);
      left -= part.length;
      for (const frame of parse(decoder.decode(part, { stream: true }))) follower.apply(frame);
      if (left === 0) {
        response.destroy();
        return { isWhole: false, status };
      }
    }
    return { isWhole: true, status };
  } catch {
    // The server has ended the connection in the middle.
    return { isWhole: false, status };
  }
}
