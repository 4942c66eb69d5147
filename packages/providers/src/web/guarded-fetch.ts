import { WebToolError } from '@questline/core/ports';
import { request } from 'undici';
import { isPublicAddress } from './addresses.ts';
import { decodeContent } from './content-coding.ts';
import { type AddressCheck, checkTarget, createGuardedAgent } from './guarded-agent.ts';

export interface GuardedFetchOptions {
  /** Per request, with its answer. Default 10,000 ms. */
  readonly timeoutMs?: number;
  /** Which addresses may be called. Default: those of the open internet. */
  readonly isAllowedAddress?: AddressCheck;
  /** Maximum size of an answer. Default 1 MiB. */
  readonly maxBytes?: number;
}

/** What `fetch` takes, with text as the body. */
export type GuardedFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * Creates a `fetch` for addresses that others choose: it connects to the address that was checked, follows no redirects, and
 * reads small answers. Rejects for an address that is not allowed.
 */
export function createGuardedFetch(options: GuardedFetchOptions = {}): GuardedFetch {
  const { timeoutMs = 10_000, isAllowedAddress = isPublicAddress, maxBytes = 2 ** 20 } = options;
  return async (url, init = {}) => {
    const target = checkTarget(String(url), isAllowedAddress);
    const asked = new Request(target, init);
    const deadline = AbortSignal.timeout(timeoutMs);
    const agent = createGuardedAgent(isAllowedAddress, timeoutMs);
    try {
      const answer = await request(target, {
        method: asked.method as 'GET',
        dispatcher: agent,
        signal: AbortSignal.any([deadline, asked.signal]),
        headers: Object.fromEntries(asked.headers),
        body: asked.body === null ? null : await asked.text(),
      });
      const { 'content-encoding': coding, ...fields } = answer.headers;
      const headers = Object.entries(fields).flatMap(([name, value]) =>
        [value ?? []].flat().map((one): [string, string] => [name, one]),
      );
      const isBodiless = asked.method === 'HEAD' || [204, 205, 304].includes(answer.statusCode);
      const content = isBodiless ? answer.body : decodeContent(answer.body, coding);
      const body = await readWhole(content, maxBytes);
      return new Response(isBodiless ? null : body, { status: answer.statusCode, headers });
    } finally {
      await agent.destroy();
    }
  };
}

async function readWhole(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes)
      throw new WebToolError('INVALID_INPUT', `the answer is larger than ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}
