import type { GenerateRequest, ModelContent, ModelMessage, ReasoningEffort } from '@questline/core/ports';
import { documentText, titled, unsupported } from '../content/documents.ts';
import { chooseEffort } from '../content/effort.ts';
import { fitEffort } from '../content/effort-levels.ts';
import { isStrictSchema } from '../content/strict-schema.ts';

/*
 * The request of chat completions, by the types of the npm package `openai` 7.57.0 (November 2026):
 * https://developers.openai.com/api/reference/resources/chat/completions
 */

/** The field for the output cap. */
export type MaxTokensParameter = 'max_completion_tokens' | 'max_tokens';

/** The format of content: a string, or a list of parts. */
export type ContentForm = 'string' | 'parts';

/** The differences between servers of this protocol. */
export interface CompletionDialect {
  /** For error texts. */
  readonly provider: string;
  getMaxTokensParameter(model: string): MaxTokensParameter;
  /** Absent: a string for messages of one text, otherwise a list. */
  readonly contentAs?: ContentForm;
  /** Request token counts; some old servers reject the field. */
  readonly streamUsage: boolean;
  takesEffort(model: string): boolean;
  /** The effort levels of the model. Undefined: unknown. */
  getEffortLevels(model: string): readonly ReasoningEffort[] | undefined;
  /** Models that always reason reject temperature, `top_p` and `stop`. */
  takesSampling(model: string): boolean;
  /** Whether `top_k` is a field of the server. */
  readonly hasTopK: boolean;
  /** Whether `prompt_cache_key` is a field of the server. */
  readonly hasCacheKey: boolean;
  /** Whether documents may be sent as `file` parts. */
  readonly files: boolean;
}

type Json = Record<string, unknown>;

/** The body of a streamed completion. Throws `invalid_request` for content the protocol has no place for. */
export function completionBody(request: GenerateRequest, dialect: CompletionDialect): Json {
  const { model, seed, promptCache, responseFormat } = request;
  const effort = dialect.takesEffort(model) ? chooseEffort(request) : undefined;
  const cacheKey = dialect.hasCacheKey && promptCache?.mode === 'auto' ? promptCache.key : undefined;
  const body: Json = { model, messages: toMessages(request, dialect) };
  addTools(body, request);
  body[dialect.getMaxTokensParameter(model)] = request.maxTokens;
  if (dialect.takesSampling(model)) addSampling(body, request, dialect);
  if (seed !== undefined) body.seed = seed;
  if (effort !== undefined) body.reasoning_effort = fitEffort(effort, dialect.getEffortLevels(model));
  if (responseFormat !== undefined) body.response_format = toWireFormat(responseFormat);
  if (cacheKey !== undefined) body.prompt_cache_key = cacheKey;
  body.stream = true;
  if (dialect.streamUsage) body.stream_options = { include_usage: true };
  return body;
}

function addTools(body: Json, { tools = [], toolChoice, parallelToolCalls }: GenerateRequest): void {
  if (tools.length === 0) return;
  const choice =
    typeof toolChoice === 'object' ? { type: 'function', function: { name: toolChoice.name } } : toolChoice;
  body.tools = tools.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters },
  }));
  if (choice !== undefined) body.tool_choice = choice;
  if (parallelToolCalls !== undefined) body.parallel_tool_calls = parallelToolCalls;
}

function addSampling(
  body: Json,
  { temperature, topP, topK, stop }: GenerateRequest,
  { hasTopK }: CompletionDialect,
): void {
  if (temperature !== undefined) body.temperature = temperature;
  if (topP !== undefined) body.top_p = topP;
  if (hasTopK && topK !== undefined) body.top_k = topK;
  if (stop !== undefined && stop.length > 0) body.stop = stop.slice(0, MAX_STOPS);
}

/** The protocol's maximum number of stop sequences. */
const MAX_STOPS = 4;

function toWireFormat(format: NonNullable<GenerateRequest['responseFormat']>): Json {
  if (format.type === 'json') return { type: 'json_object' };
  const name = format.name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'answer';
  const strict = format.strict ?? isStrictSchema(format.schema);
  return { type: 'json_schema', json_schema: { name, schema: format.schema, strict } };
}

function toMessages(request: GenerateRequest, dialect: CompletionDialect): Json[] {
  const messages: Json[] = [];
  // The protocol rejects JSON mode unless a message contains the word JSON.
  if (request.responseFormat?.type === 'json' && !request.messages.some(speaksOfJson)) {
    messages.push({ role: 'system', content: toContent('Answer with one JSON object.', dialect) });
  }
  for (const message of request.messages) {
    if (message.role === 'assistant') messages.push(assistantMessage(message.content, dialect));
    else if (message.role === 'system')
      messages.push({ role: 'system', content: toContent(plainText(message.content, dialect), dialect) });
    else messages.push(...userMessages(message.content, dialect));
  }
  return messages;
}

function speaksOfJson(message: ModelMessage): boolean {
  return message.content.some((content) => content.type === 'text' && /json/i.test(content.text));
}

/** Tool results are separate messages directly after the calls, so they precede the other parts. */
function userMessages(content: readonly ModelContent[], dialect: CompletionDialect): Json[] {
  const messages: Json[] = [];
  const parts: Json[] = [];
  for (const piece of content) {
    if (piece.type === 'tool_result') {
      const text = piece.isError ? `Error: ${piece.content}` : piece.content;
      messages.push({ role: 'tool', tool_call_id: piece.toolUseId, content: toContent(text, dialect) });
    } else {
      parts.push(userPart(piece, dialect));
    }
  }
  if (parts.length > 0) messages.push({ role: 'user', content: joinParts(parts, dialect) });
  return messages;
}

function joinParts(parts: readonly Json[], { provider, contentAs }: CompletionDialect): unknown {
  const [first] = parts;
  if (contentAs === 'parts') return parts;
  if (contentAs === undefined) return parts.length === 1 && first?.type === 'text' ? first.text : parts;
  return parts
    .map(({ type, text }) => {
      if (type === 'text') return text;
      throw unsupported(provider, `${type} where content is one text`);
    })
    .join('\n\n');
}

function toContent(text: string, { contentAs }: CompletionDialect): unknown {
  return contentAs === 'parts' ? [{ type: 'text', text }] : text;
}

function userPart(piece: ModelContent, dialect: CompletionDialect): Json {
  if (piece.type === 'text') return { type: 'text', text: piece.text };
  if (piece.type === 'image') {
    return { type: 'image_url', image_url: { url: `data:${piece.mediaType};base64,${piece.data}` } };
  }
  if (piece.type === 'document') {
    const text = documentText(piece);
    if (text !== undefined) return { type: 'text', text: titled(piece, text) };
    if (!dialect.files || piece.mediaType !== 'application/pdf') {
      throw unsupported(dialect.provider, `a document of type ${piece.mediaType}`);
    }
    const file_data = `data:application/pdf;base64,${piece.data}`;
    return { type: 'file', file: { filename: piece.name, file_data } };
  }
  throw unsupported(dialect.provider, `${piece.type} in a user message`);
}

function assistantMessage(content: readonly ModelContent[], dialect: CompletionDialect): Json {
  const calls: Json[] = [];
  const reasoning: Record<string, string> = {};
  let text = '';
  for (const piece of content) {
    if (piece.type === 'text') {
      text += piece.text;
    } else if (piece.type === 'tool_use') {
      calls.push({
        id: piece.id,
        type: 'function',
        function: { name: piece.name, arguments: JSON.stringify(piece.input ?? {}) },
      });
    } else if (piece.type === 'thinking') {
      // This API cannot read blocks of other providers.
      const { type, text: thought, field = 'reasoning_content' } = piece.block;
      if (type !== 'reasoning_content' || typeof thought !== 'string') continue;
      reasoning[String(field)] = (reasoning[String(field)] ?? '') + thought;
    } else {
      throw unsupported(dialect.provider, `${piece.type} in an assistant message`);
    }
  }
  const { content: thought, ...fields } = reasoning;
  return {
    role: 'assistant',
    content: assistantContent(text, thought, calls.length > 0, dialect),
    // Models with visible reasoning need it back with tool results, and only then.
    ...(calls.length > 0 && { ...fields, tool_calls: calls }),
  };
}

/** Reasoning from a content list returns in a content list. */
function assistantContent(
  text: string,
  thought: string | undefined,
  hasCalls: boolean,
  dialect: CompletionDialect,
): unknown {
  if (thought !== undefined) {
    const thinking = { type: 'thinking', thinking: [{ type: 'text', text: thought }] };
    return text === '' ? [thinking] : [thinking, { type: 'text', text }];
  }
  return text === '' && hasCalls ? null : toContent(text, dialect);
}

function plainText(content: readonly ModelContent[], dialect: CompletionDialect): string {
  return content
    .map((piece) => {
      if (piece.type === 'text') return piece.text;
      throw unsupported(dialect.provider, `${piece.type} in a system message`);
    })
    .join('\n\n');
}
