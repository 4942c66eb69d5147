import type { Usage } from '@questline/core/ports';
import { completionFrames, isResponses, openAIUsage } from './openai.ts';
import { checkResponse, RESPONSE_FIELDS, type RuleRefusal, type RuleVendor } from './openai-rules.ts';
import type { Protocol } from './protocol.ts';
import { type ResponsesVendor, responsesFrames } from './responses.ts';
import { type Script, toBytes } from './script.ts';
import { startUpstream } from './server.ts';
import type { Upstream, UpstreamOptions } from './upstream.ts';
import { xaiVideos } from './xai-videos.ts';

/** As OpenAI counts, but the completion excludes the reasoning. */
function xaiUsage(usage: Usage): Record<string, unknown> {
  const counted = openAIUsage(usage);
  const total = Number(counted.total_tokens);
  return { ...counted, completion_tokens: usage.output ?? 0, total_tokens: total, num_sources_used: 0 };
}

/** The deprecated protocol, which the vendor still supports. */
const chatFrames = (script: Script) =>
  completionFrames(script, {
    usage: xaiUsage,
    error: (message, code) => ({ code, error: message }),
    wholeCalls: true,
  });

const vendor: ResponsesVendor & RuleVendor = {
  minOutputTokens: 1,
  encryptedPrefix: 'xai1.',
  error: (message, code) => ({ code, message }),
  wholeCalls: true,
};

/** Fields beside OpenAI's. @see https://docs.x.ai/docs/api-reference#create-new-response */
const FIELDS: ReadonlySet<string> = new Set([...RESPONSE_FIELDS, 'seed', 'top_k', 'min_p', 'logprobs']);

function checkRules(path: string, body: unknown): RuleRefusal | undefined {
  if (!isResponses(path)) return undefined;
  const refusal = checkResponse(body as Record<string, unknown>, vendor, FIELDS);
  if (refusal === undefined) return checkFiles(body);
  const { error } = refusal.body as { error: { message: string } };
  return {
    status: refusal.status,
    body: { code: 'Client specified an invalid argument', error: error.message },
  };
}

/** Files are given by URL or from the vendor's storage. */
function checkFiles(body: unknown): RuleRefusal | undefined {
  if (!JSON.stringify(body).includes('"file_data"')) return undefined;
  const error = 'Failed to deserialize the JSON body: file_data is not supported';
  return { status: 422, body: { code: 'Client specified an invalid argument', error } };
}

const xaiProtocol: Protocol = {
  basePath: '/v1',
  frames: (script, path) => (isResponses(path) ? responsesFrames(script, vendor) : chatFrames(script)),
  answer: (path, body, exchange) => checkRules(path, body) ?? xaiVideos(path, body, exchange),
};

/** The Responses API stream of a script as bytes. */
export function xaiStream(script: Script): Buffer {
  return toBytes(responsesFrames(script, vendor));
}

/** A local server of xAI's Responses API that rejects what xAI rejects. */
export function createXAIUpstream(options?: UpstreamOptions): Promise<Upstream> {
  return startUpstream(xaiProtocol, options);
}
