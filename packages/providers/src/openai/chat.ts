import type { GenerateRequest, ModelChunk } from '@questline/core/ports';
import type { Upstream, UpstreamCall } from '../http/upstream.ts';
import { CompletionDecoder } from './events.ts';
import { type CompletionDialect, completionBody } from './request.ts';

/** Requests a streamed chat completion. */
export function generateCompletion(
  upstream: Upstream,
  dialect: CompletionDialect,
  request: GenerateRequest,
  access: Pick<UpstreamCall, 'headers' | 'key' | 'signal'>,
): Promise<AsyncIterable<ModelChunk>> {
  const body = JSON.stringify(completionBody(request, dialect));
  return upstream.stream(
    { ...access, path: '/chat/completions', body },
    (faults) => new CompletionDecoder({ faults, usage: dialect.streamUsage }),
  );
}
