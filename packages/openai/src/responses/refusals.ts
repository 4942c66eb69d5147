import { type CatalogueEntry, findIgnoredByProvider } from '@questline/core/internal';
import type { GenerateRequest } from '@questline/core/ports';
import { issue, unsupported } from '../errors.ts';
import type { ResponseBody } from './contract.ts';

/** Fields that refine an answer or its billing, and have no effect here. */
const IGNORED = [
  'client_metadata',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'safety_identifier',
  'service_tier',
  'truncation',
  'user',
] as const;

const NAMES = {
  topP: 'top_p',
  toolChoice: 'tool_choice',
  parallelToolCalls: 'parallel_tool_calls',
  reasoningEffort: 'reasoning.effort',
  responseFormat: 'text.format',
} as const;

/** @throws ApiError 400 that names a field that would change the answer and is not supported, with what to do instead. */
export function refuseUnsupported(body: ResponseBody): void {
  const fields: Readonly<Record<string, unknown>> = body;
  if (body.conversation != null && body.previous_response_id != null) {
    throw issue('previous_response_id', 'cannot be combined with conversation, which has the earlier items');
  }
  if (body.background === true && body.store === false) {
    throw issue('background', 'needs a stored response: leave store out, or set it to true');
  }
  if (isFilled(fields.prompt)) throw unsupported('prompt', 'stored prompts; send instructions and input');
  if (isFilled(fields.context_management)) {
    throw unsupported('context_management', 'send a shorter conversation in input');
  }
  if (isFilled(fields.moderation)) throw unsupported('moderation', 'moderated responses');
  if (typeof fields.top_logprobs === 'number' && fields.top_logprobs > 0) {
    throw unsupported('top_logprobs', 'token probabilities');
  }
  const asked = (body.include ?? []).indexOf('message.output_text.logprobs');
  if (asked !== -1) throw unsupported(`include.${asked}`, 'token probabilities');
}

/** The fields of a request that have no effect, for a response header. */
export function findIgnored(
  body: ResponseBody,
  request: GenerateRequest,
  entry: CatalogueEntry,
): readonly string[] {
  const fields: Readonly<Record<string, unknown>> = body;
  const reasons = request.reasoningEffort !== undefined || request.thinking !== undefined;
  return [
    ...IGNORED.filter((name) => isFilled(fields[name]) && fields[name] !== false),
    ...(isFilled(body.text?.verbosity) ? ['text.verbosity'] : []),
    ...(isFilled(body.reasoning) && !reasons ? ['reasoning'] : []),
    ...findIgnoredByProvider(entry, request, NAMES).filter((name) => name !== 'thinking'),
  ];
}

/** Neither absent, null nor an empty object or list. */
export function isFilled(value: unknown): boolean {
  return value != null && (typeof value !== 'object' || Object.values(value).some((field) => field != null));
}
