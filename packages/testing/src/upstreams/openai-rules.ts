/*
 * The requests that OpenAI rejects, with sources:
 * tools on chat completions: onyx#15008 (2026-09-23), litellm#34569, bolna#1019, LibreChat#14355;
 * `max_tokens`, `temperature` and `stop` of reasoning models: bolna#1019 (2026-09-05), Vane#1173;
 * effort levels by model: bolna#1019, livekit/agents#7169, litellm#52347;
 * items of the Responses API: openai-agents-js#546, OpenHands/software-agent-sdk#1208, sub2api#3138, vercel/ai#7543.
 */

type Json = Readonly<Record<string, unknown>>;

/** A response instead of the stream. */
export interface RuleRefusal {
  readonly status: number;
  readonly body: unknown;
}

/** The differences between vendors of these protocols. */
export interface RuleVendor {
  /** The prefix of encrypted reasoning that this vendor can decrypt. */
  readonly encryptedPrefix: string;
  readonly minOutputTokens: number;
}

function refuse(message: string, param: string | null, code: string | null, status = 400): RuleRefusal {
  return { status, body: { error: { message, type: 'invalid_request_error', param, code } } };
}

function unsupported(param: string): RuleRefusal {
  return refuse(
    `Unsupported parameter: '${param}' is not supported with this model.`,
    param,
    'unsupported_parameter',
  );
}

const reasons = (model: string): boolean => /^(o\d|gpt-[56](?!.*chat))/.test(model);

/** Chat completions accept no tools with these models, unless the effort is `none`. */
const toolsNeedResponses = (model: string): boolean => /^gpt-(5\.[6-9]|6)/.test(model);

/** The effort levels of a model; undefined: unknown. */
function levels(model: string): readonly string[] | undefined {
  if (/^gpt-6\.2|^gpt-6-astra/.test(model)) return ['low', 'medium', 'high', 'xhigh', 'max'];
  if (/^gpt-(5\.[2-9]|6)/.test(model)) return ['none', 'low', 'medium', 'high', 'xhigh'];
  if (/^gpt-5\.1/.test(model)) return ['none', 'low', 'medium', 'high'];
  if (/^gpt-5/.test(model)) return ['minimal', 'low', 'medium', 'high'];
  if (/^grok-4\.6/.test(model)) return ['none', 'low', 'medium', 'high', 'xhigh'];
  if (/^grok-4/.test(model)) return ['none', 'low', 'medium', 'high'];
  return /^o\d/.test(model) ? ['low', 'medium', 'high'] : undefined;
}

function checkEffort(model: string, effort: unknown, param: string): RuleRefusal | undefined {
  if (effort === undefined) return undefined;
  if (!reasons(model) && /^gpt-4/.test(model)) return unsupported(param);
  const known = levels(model);
  if (known === undefined || known.includes(String(effort))) return undefined;
  const supported = known.map((level) => `'${level}'`).join(', ');
  const message = `Unsupported value: '${effort}' is not supported with the '${model}' model. Supported values are: ${supported}.`;
  return refuse(message, param, 'unsupported_value');
}

/** @returns the error response for an invalid chat completion. */
export function checkChatCompletion(body: Json): RuleRefusal | undefined {
  const model = String(body.model);
  if (reasons(model)) {
    if ('max_tokens' in body) {
      const message =
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
      return refuse(message, 'max_tokens', 'unsupported_parameter');
    }
    for (const param of ['temperature', 'top_p', 'stop']) if (param in body) return unsupported(param);
  }
  const effort = checkEffort(model, body.reasoning_effort, 'reasoning_effort');
  if (effort !== undefined) return effort;
  if (Array.isArray(body.tools) && toolsNeedResponses(model) && body.reasoning_effort !== 'none') {
    const message = `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`;
    return refuse(message, 'reasoning_effort', null);
  }
  return undefined;
}

/** The fields of OpenAI's `POST /responses`. */
export const RESPONSE_FIELDS: ReadonlySet<string> = new Set([
  'model',
  'input',
  'instructions',
  'include',
  'store',
  'stream',
  'stream_options',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_output_tokens',
  'temperature',
  'top_p',
  'reasoning',
  'text',
  'prompt_cache_key',
  'prompt_cache_options',
  'safety_identifier',
  'metadata',
  'service_tier',
  'truncation',
  'user',
]);

/** @returns the error response for an invalid request of the Responses API. */
export function checkResponse(
  body: Json,
  vendor: RuleVendor,
  fields: ReadonlySet<string>,
): RuleRefusal | undefined {
  const model = String(body.model);
  for (const field of Object.keys(body)) {
    if (!fields.has(field)) return refuse(`Unknown parameter: '${field}'.`, field, 'unknown_parameter');
  }
  if (reasons(model))
    for (const param of ['temperature', 'top_p']) if (param in body) return unsupported(param);
  if (Number(body.max_output_tokens) < vendor.minOutputTokens) {
    const message = `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= ${vendor.minOutputTokens}, but got ${body.max_output_tokens} instead.`;
    return refuse(message, 'max_output_tokens', 'integer_below_min_value');
  }
  const reasoning = (body.reasoning ?? {}) as Json;
  const effort = checkEffort(model, reasoning.effort, 'reasoning.effort');
  if (effort !== undefined) return effort;
  const include = Array.isArray(body.include) ? body.include : [];
  if (include.includes('reasoning.encrypted_content') && /^gpt-4/.test(model)) {
    return refuse('Encrypted content is not supported with this model.', 'include', null);
  }
  if (String(body.prompt_cache_key ?? '').length > 64) {
    return refuse(
      'Invalid prompt_cache_key: string too long.',
      'prompt_cache_key',
      'string_above_max_length',
    );
  }
  return (
    checkFormat(body) ??
    (Array.isArray(body.input) ? checkInput(body.input as Json[], body, vendor) : undefined)
  );
}

function checkFormat(body: Json): RuleRefusal | undefined {
  const { format } = (body.text ?? {}) as { format?: Json };
  if (format?.type === 'json_object' && !/json/i.test(JSON.stringify(body.input))) {
    const message =
      "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.";
    return refuse(message, 'input', null);
  }
  const { schema } = (format ?? {}) as { schema?: Json };
  if (format?.strict === true && schema?.additionalProperties !== false) {
    const message = `Invalid schema for response_format '${format.name}': 'additionalProperties' is required to be supplied and to be false.`;
    return refuse(message, 'text.format.schema', 'invalid_json_schema');
  }
  return undefined;
}

function checkInput(input: readonly Json[], body: Json, vendor: RuleVendor): RuleRefusal | undefined {
  const calls = new Set<unknown>();
  const outputs = new Set(
    input.flatMap((item) => (item.type === 'function_call_output' ? [item.call_id] : [])),
  );
  for (const [place, item] of input.entries()) {
    const param = `input[${place}]`;
    if (item.type === 'reasoning') {
      const refusal = checkReasoning(item, input[place + 1], param, body, vendor);
      if (refusal !== undefined) return refusal;
    } else if (item.type === 'function_call') {
      calls.add(item.call_id);
      if (!outputs.has(item.call_id)) {
        return refuse(`No tool output found for function call ${item.call_id}.`, 'input', null);
      }
    } else if (item.type === 'function_call_output') {
      if (!calls.has(item.call_id)) {
        return refuse(
          `No tool call found for function call output with call_id ${item.call_id}.`,
          'input',
          null,
        );
      }
    } else {
      const refusal = checkMessage(item, param);
      if (refusal !== undefined) return refusal;
    }
  }
  return undefined;
}

/** A reasoning item needs content that this vendor can decrypt, and the item that followed it. */
function checkReasoning(
  item: Json,
  next: Json | undefined,
  param: string,
  body: Json,
  vendor: RuleVendor,
): RuleRefusal | undefined {
  const encrypted = item.encrypted_content;
  if (typeof encrypted !== 'string') {
    if (body.store !== false) return undefined;
    const message = `Item with id '${item.id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`;
    return refuse(message, 'input', null, 404);
  }
  if (!encrypted.startsWith(vendor.encryptedPrefix)) {
    const message = `The encrypted content ${encrypted.slice(0, 4)}... could not be verified. Reason: Encrypted content could not be decrypted or parsed.`;
    return refuse(message, param, 'invalid_encrypted_content');
  }
  if (!Array.isArray(item.summary)) {
    return refuse(
      `Missing required parameter: '${param}.summary'.`,
      `${param}.summary`,
      'missing_required_parameter',
    );
  }
  const isFollowed =
    next !== undefined &&
    (next.type === 'function_call' || next.type === 'reasoning' || next.role === 'assistant');
  if (isFollowed) return undefined;
  const message = `Item '${item.id}' of type 'reasoning' was provided without its required following item.`;
  return refuse(message, 'input', null);
}

function checkMessage(item: Json, param: string): RuleRefusal | undefined {
  const roles = ['user', 'assistant', 'system', 'developer'];
  if (!roles.includes(String(item.role))) {
    return refuse(`Invalid value: '${item.type}'.`, param, 'invalid_value');
  }
  if (typeof item.content === 'string') return undefined;
  const allowed =
    item.role === 'assistant' ? ['output_text', 'refusal'] : ['input_text', 'input_image', 'input_file'];
  for (const part of (item.content ?? []) as Json[]) {
    if (!allowed.includes(String(part.type))) {
      const supported = allowed.map((type) => `'${type}'`).join(', ');
      const message = `Invalid value: '${part.type}'. Supported values are: ${supported}.`;
      return refuse(message, `${param}.content`, 'invalid_value');
    }
  }
  return undefined;
}
