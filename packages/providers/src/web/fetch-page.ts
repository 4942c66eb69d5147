import { WebToolError, type WebTools } from '@questline/core/ports';
import { type Dispatcher, request } from 'undici/index.js';
import { decodePage, isHtml } from './charset.ts';
import { CODINGS, decodeContent } from './content-coding.ts';
import { type AddressCheck, checkTarget, createGuardedAgent } from './guarded-agent.ts';
import { getPageText } from './page-text.ts';

const MAX_REDIRECTS = 5;
const MAX_BYTES = 2 * 2 ** 20;
const PART_CHARACTERS = 20_000;
const PAGE = 'text/html, text/*;q=0.9, application/json;q=0.8';
const READABLE = /^(?:text\/|application\/(?:json|xml|xhtml\+xml|rss\+xml|atom\+xml))/;

/** Reads pages of the open internet as text. Every hop of a redirect is checked like the first. */
export function createFetchPage(
  isAllowed: AddressCheck,
  timeoutMs: number,
): NonNullable<WebTools['fetchPage']> {
  return async (address, offset, options) => {
    const agent = createGuardedAgent(isAllowed, timeoutMs);
    const deadline = AbortSignal.timeout(timeoutMs);
    const signal = options?.signal === undefined ? deadline : AbortSignal.any([deadline, options.signal]);
    try {
      const { url, answer } = await follow(checkTarget(address, isAllowed), isAllowed, agent, signal, PAGE);
      const type = String(answer.headers['content-type'] ?? 'text/plain').toLowerCase();
      if (!READABLE.test(type)) {
        throw new WebToolError('INVALID_INPUT', 'url: this is not a page that can be read as text.');
      }
      const body = decodePage(await readBody(answer), type);
      const { title, text } = isHtml(body, type) ? getPageText(body) : { title: null, text: body };
      const part = text.slice(offset, offset + PART_CHARACTERS);
      const end = offset + part.length;
      return { url: url.href, title, text: part, offset, nextOffset: end < text.length ? end : null };
    } catch (error) {
      throw asWebToolError(error);
    } finally {
      await agent.destroy();
    }
  };
}

/** Follows redirects. Every hop is checked like the first. */
export async function follow(
  first: URL,
  isAllowed: AddressCheck,
  dispatcher: Dispatcher,
  signal: AbortSignal,
  accept: string,
): Promise<{ url: URL; answer: Dispatcher.ResponseData }> {
  let url = first;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const answer = await request(url, {
      dispatcher,
      signal,
      headers: { accept, 'accept-encoding': CODINGS, 'user-agent': 'Questline' },
    });
    // The rest is discarded; without a listener, its error would be unhandled.
    answer.body.on('error', () => undefined);
    const { location } = answer.headers;
    if (answer.statusCode >= 300 && answer.statusCode < 400 && typeof location === 'string') {
      answer.body.destroy();
      url = checkTarget(URL.canParse(location, url.href) ? new URL(location, url.href).href : '', isAllowed);
      continue;
    }
    if (answer.statusCode === 429) throw new WebToolError('RATE_LIMIT', 'The site asks to wait.');
    if (answer.statusCode >= 400) {
      throw new WebToolError('EXTERNAL_API_ERROR', `The site answered with status ${answer.statusCode}.`);
    }
    return { url, answer };
  }
  throw new WebToolError('EXTERNAL_API_ERROR', `The site redirects more than ${MAX_REDIRECTS} times.`);
}

/** Reads the body up to the maximum and discards the rest. */
async function readBody({ body, headers }: Dispatcher.ResponseData): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of decodeContent(body, headers['content-encoding'])) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size > MAX_BYTES) break;
  }
  return Buffer.concat(chunks);
}

export function asWebToolError(error: unknown): WebToolError {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof WebToolError) return cause;
  }
  return new WebToolError('NETWORK_ERROR', 'The site could not be reached in time.', { cause: error });
}
