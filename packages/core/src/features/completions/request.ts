import type { CatalogueEntry } from '../../models/catalogue.ts';
import { capWithBudget, withinModel } from '../../models/output-cap.ts';
import type { GenerateRequest, IgnorableField, PromptCacheHints } from '../../ports/models.ts';
import { invalid } from '../../shared/errors.ts';
import type { CompletionBody } from './contract.ts';
import { toModelMessages } from './messages.ts';
import { type ModelOptions, readModelOptions } from './options.ts';

/** Thinking tokens when the request enables thinking without a number. */
const DEFAULT_BUDGET = 4096;

/** Returns the output cap of a request. The top level takes precedence over `options`. */
export function namedCap({ max_tokens, options }: CompletionBody): number | undefined {
  return max_tokens ?? options?.maxTokens ?? options?.max_tokens;
}

/**
 * Converts a request to the provider's form. The top level takes precedence over `options`.
 * @throws ApiError 422 for a tool choice that names no offered tool.
 */
export function toGenerateRequest(
  body: CompletionBody,
  { info, providerModel }: CatalogueEntry,
  promptCache: PromptCacheHints,
): GenerateRequest {
  const { options = {} } = body;
  const named = namedCap(body);
  const tools = body.tools ?? options.tools ?? [];
  const temperature = body.temperature ?? options.temperature;
  const format = body.response_format ?? options.response_format;
  const thinking = body.thinking ?? options.thinking;
  const budgetTokens = thinking?.enabled === true ? (thinking.budget_tokens ?? DEFAULT_BUDGET) : undefined;
  const asked = readModelOptions(body, options);
  checkChoice(asked.toolChoice, tools);
  return {
    model: providerModel,
    messages: toModelMessages(body.messages),
    maxTokens:
      named === undefined
        ? capWithBudget(info, budgetTokens ?? 0, asked.reasoningEffort)
        : withinModel(info, named),
    promptCache,
    ...(tools.length > 0 && { tools: tools.map(({ toolSchema }) => toolSchema) }),
    ...(temperature !== undefined && { temperature }),
    ...defined(asked),
    ...(budgetTokens !== undefined && { thinking: { budgetTokens } }),
    ...(format !== undefined && format.type !== 'text' && { responseFormat: toResponseFormat(format) }),
  };
}

/** The names under which the request sent these options. */
export function spelledNames(body: CompletionBody, fields: readonly IgnorableField[]): readonly string[] {
  if (fields.length === 0) return [];
  const top: Readonly<Record<string, unknown>> = body;
  const nested: Readonly<Record<string, unknown>> = body.options ?? {};
  return fields.flatMap((field) => {
    const spellings = [field, field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)];
    const name = spellings.find((one) => top[one] !== undefined);
    if (name !== undefined) return [name];
    return spellings
      .filter((one) => nested[one] !== undefined)
      .map((one) => `options.${one}`)
      .slice(0, 1);
  });
}

/** Adapts the request to a fallback model: within its capabilities. */
export function forStandIn(
  request: GenerateRequest,
  { info, providerModel }: CatalogueEntry,
): GenerateRequest {
  const { thinking, ...rest } = request;
  return {
    ...rest,
    model: providerModel,
    maxTokens: withinModel(info, request.maxTokens),
    ...(thinking !== undefined && info.supportsThinking === true && { thinking }),
  };
}

function checkChoice(choice: ModelOptions['toolChoice'], tools: readonly OfferedTool[]): void {
  if (choice === undefined || choice === 'auto' || choice === 'none') return;
  if (tools.length === 0) throw invalid('toolChoice', 'the request offers no tools');
  if (typeof choice === 'object' && !tools.some(({ toolSchema }) => toolSchema.name === choice.name)) {
    throw invalid('toolChoice', 'the request offers no tool of this name');
  }
}

type OfferedTool = NonNullable<CompletionBody['tools']>[number];

/** Removes the fields that are undefined. */
function defined(asked: ModelOptions): Partial<GenerateRequest> {
  const found: Record<string, unknown> = {};
  for (const name in asked) {
    const value = asked[name as keyof ModelOptions];
    if (value !== undefined) found[name] = value;
  }
  return found;
}

function toResponseFormat(
  format: Exclude<NonNullable<CompletionBody['response_format']>, { type: 'text' }>,
): NonNullable<GenerateRequest['responseFormat']> {
  return format.type === 'json_object' ? { type: 'json' } : { type: 'schema', ...format.json_schema };
}
