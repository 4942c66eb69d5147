import { type GenerateRequest, isProviderError, type ModelChunk } from '@questline/core/ports';
import type { Upstream, UpstreamCall } from '../http/upstream.ts';
import { ResponseDecoder } from './events.ts';
import { createResponseBody, type ResponseDialect } from './request.ts';

/**
 * Requests a streamed response. If the vendor cannot decrypt the reasoning, repeats the call once without it: a
 * conversation may have started with the key of another account.
 */
export async function generateResponse(
  upstream: Upstream,
  dialect: ResponseDialect,
  request: GenerateRequest,
  access: Pick<UpstreamCall, 'headers' | 'key' | 'signal'>,
): Promise<AsyncIterable<ModelChunk>> {
  const send = (withReasoning: boolean): Promise<AsyncIterable<ModelChunk>> => {
    const body = JSON.stringify(createResponseBody(request, dialect, { withReasoning }));
    const path = '/responses';
    return upstream.stream(
      { ...access, path, body },
      (faults) => new ResponseDecoder(dialect.provider, faults),
    );
  };
  try {
    return await send(true);
  } catch (error) {
    if (!isUnreadable(error) || !hasThinking(request)) throw error;
    return send(false);
  }
}

function isUnreadable(error: unknown): boolean {
  if (!isProviderError(error) || error.kind !== 'invalid_request') return false;
  return error.code === 'invalid_encrypted_content' || /encrypted content/i.test(error.message);
}

function hasThinking({ messages }: GenerateRequest): boolean {
  return messages.some(({ content }) => content.some(({ type }) => type === 'thinking'));
}
