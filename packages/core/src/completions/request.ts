import { invalid } from '../errors.ts';
import type { CatalogueEntry } from '../models/catalogue.ts';
import type { GenerateRequest } from '../ports/models.ts';
import type { CompletionBody } from './contract.ts';
import { toModelMessages } from './messages.ts';

const DEFAULT_MAX_TOKENS = 4096;
/** Thinking tokens, when thinking is asked for without a number. */
const DEFAULT_BUDGET = 4096;

/** The caller's wish in the provider's terms. What stands at the top level wins over `options`. */
export function toGenerateRequest(body: CompletionBody, entry: CatalogueEntry): GenerateRequest {
  const { options = {} } = body;
  const { maxOutputTokens } = entry.info;
  const maxTokens = body.max_tokens ?? options.maxTokens ?? Math.min(DEFAULT_MAX_TOKENS, maxOutputTokens);
  if (maxTokens > maxOutputTokens) {
    const path = body.max_tokens === undefined ? 'options.maxTokens' : 'max_tokens';
    throw invalid(path, `'${entry.info.id}' gives at most ${maxOutputTokens} tokens, got ${maxTokens}`);
  }
  const tools = body.tools ?? options.tools;
  const temperature = body.temperature ?? options.temperature;
  const format = body.response_format ?? options.response_format;
  const effort = body.reasoningEffort ?? options.reasoningEffort;
  const thinking = body.thinking ?? options.thinking;
  return {
    model: entry.providerModel,
    messages: toModelMessages(body.messages),
    maxTokens,
    ...(tools !== undefined && tools.length > 0 && { tools: tools.map(({ toolSchema }) => toolSchema) }),
    ...(temperature !== undefined && { temperature }),
    ...(effort !== undefined && { reasoningEffort: effort }),
    ...(thinking?.enabled === true && {
      thinking: { budgetTokens: thinking.budget_tokens ?? DEFAULT_BUDGET },
    }),
    ...(format !== undefined && format.type !== 'text' && { responseFormat: toResponseFormat(format) }),
  };
}

/** The same wish for a model that answers in the place of the requested one: within what it can do. */
export function forStandIn(
  request: GenerateRequest,
  { info, providerModel }: CatalogueEntry,
): GenerateRequest {
  const { thinking, ...rest } = request;
  return {
    ...rest,
    model: providerModel,
    maxTokens: Math.min(request.maxTokens, info.maxOutputTokens),
    ...(thinking !== undefined && info.supportsThinking === true && { thinking }),
  };
}

function toResponseFormat(
  format: Exclude<NonNullable<CompletionBody['response_format']>, { type: 'text' }>,
): NonNullable<GenerateRequest['responseFormat']> {
  return format.type === 'json_object' ? { type: 'json' } : { type: 'schema', ...format.json_schema };
}
