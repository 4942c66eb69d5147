import { type TextExtractor, WebToolError, type WebTools } from '@questline/core/ports';
import { type Dispatcher, request } from 'undici/index.js';
import { readBeginning } from './body.ts';
import { decodePage, isHtml } from './charset.ts';
import { CODINGS } from './content-coding.ts';
import { type AddressCheck, checkTarget, createGuardedAgent } from './guarded-agent.ts';
import { createDocumentReader } from './page-document.ts';
import { getPageText } from './page-text.ts';

const MAX_REDIRECTS = 5;
const MAX_BYTES = 2 * 2 ** 20;
const PART_CHARACTERS = 20_000;
const PAGE = 'text/html, text/*;q=0.9, application/json;q=0.8';
const READABLE =
  /^(?:text\/.*|application\/(?:(?:x-)?(?:json[\w-]*|xml|yaml|toml|ndjson|javascript|typescript|sql|sh)|[\w.-]+\+(?:json|xml|yaml)))$/;

/** Reads pages of the open internet as text, and documents with extractors. Every hop of a redirect is checked like the first. */
export function createFetchPage(
  isAllowed: AddressCheck,
  timeoutMs: number,
  extractors: readonly TextExtractor[],
): NonNullable<WebTools['fetchPage']> {
  const readDocument = createDocumentReader(extractors);
  const accept = extractors.length > 0 ? `${PAGE}, */*;q=0.5` : PAGE;
  return async (address, offset, options = {}) => {
    const agent = createGuardedAgent(isAllowed, timeoutMs);
    const deadline = AbortSignal.timeout(timeoutMs);
    const signal = options.signal === undefined ? deadline : AbortSignal.any([deadline, options.signal]);
    try {
      const { url, answer } = await follow(checkTarget(address, isAllowed), isAllowed, agent, signal, accept);
      const type = String(answer.headers['content-type'] ?? 'text/plain').toLowerCase();
      const [mediaType = ''] = type.split(/\s*;/);
      const { title, text } = READABLE.test(mediaType)
        ? readPage(await readBeginning(answer, MAX_BYTES), type)
        : { title: null, text: await readDocument({ url, mimeType: mediaType, answer }, signal, options) };
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

function readPage(bytes: Uint8Array, type: string): { readonly title: string | null; readonly text: string } {
  const text = decodePage(bytes, type);
  return isHtml(text, type) ? getPageText(text) : { title: null, text };
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

export function asWebToolError(error: unknown): WebToolError {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof WebToolError) return cause;
  }
  return new WebToolError('NETWORK_ERROR', 'The site could not be reached in time.', { cause: error });
}
