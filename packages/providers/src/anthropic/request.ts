import type { GenerateRequest, ModelContent } from '@questline/core/ports';
import { budgetWithin } from '../content/answer-room.ts';
import { documentText, unsupported } from '../content/documents.ts';
import { chooseEffort } from '../content/effort.ts';
import { conversation, jsonInstruction, type Turn } from '../content/messages.ts';
import { type CacheableMessage, lastCacheable, markBreakpoints } from './caching.ts';
import { getFamily, type ModelFamily } from './families.ts';
import { closedSchema } from './schemas.ts';
import { offeredTools } from './tools.ts';

type Json = Record<string, unknown>;

/** The API's minimum budget. */
const smallestBudget = 1024;
/** Minimum tokens of a cached prefix, for models without a published minimum. */
const MIN_CACHED = 1024;

/** A request body, and whether it needs the beta that drops thinking blocks of a changed conversation. */
export interface MessageCall {
  readonly body: Json;
  readonly dropsThoughts: boolean;
}

/**
 * @param minCached tokens: the model caches no shorter prompts.
 * @throws ProviderError `invalid_request` for content the protocol has no place for.
 */
export function messageCall(
  request: GenerateRequest,
  provider: string,
  minCached: number = MIN_CACHED,
): MessageCall {
  const family = getFamily(request.model);
  const { system, turns } = conversation(provider, request.messages);
  const messages = turns.map((turn) => message(turn, provider)).filter(({ content }) => content.length > 0);
  const dropsThoughts =
    family.bindsThoughts && turns.some(({ content }) => content.some((piece) => piece.type === 'thinking'));
  const thinking = toThinking(request, family, dropsThoughts);
  const hasBudget = thinking?.type === 'enabled';
  const { output, instruction } = toOutput(request, family);
  const said = instruction === undefined ? system : [...system, instruction];
  const { tools, choice } = offeredTools(request, family, hasBudget);
  const blocks: Json[] = said.map((text) => ({ type: 'text', text }));
  const rounds = tools.length === 0 ? 'one' : choice?.type === 'none' ? 'last' : 'more';
  markBreakpoints({ tools, system: blocks, messages }, request.promptCache, rounds, minCached);
  // The API rejects empty and blank text.
  const stop = request.stop?.filter((text) => text.trim() !== '') ?? [];
  return {
    dropsThoughts,
    body: {
      model: request.model,
      max_tokens: request.maxTokens,
      ...(blocks.length > 0 && { system: blocks }),
      messages: messages.map(({ role, content }) => ({ role, content })),
      ...(tools.length > 0 && { tools }),
      ...(choice !== undefined && { tool_choice: choice }),
      ...(thinking !== undefined && { thinking }),
      ...(output !== undefined && { output_config: output }),
      ...toSampling(request, family, hasBudget),
      ...(stop.length > 0 && { stop_sequences: stop }),
      stream: true,
    },
  };
}

/** The API accepts no sampling options with a thinking budget, and never temperature together with top_p. */
function toSampling(
  { temperature, topP, topK }: GenerateRequest,
  family: ModelFamily,
  hasBudget: boolean,
): Json {
  if (!family.sampling || hasBudget) return {};
  return {
    ...(temperature !== undefined && { temperature: Math.min(1, temperature) }),
    ...(topP !== undefined && temperature === undefined && { top_p: topP }),
    ...(topK !== undefined && { top_k: topK }),
  };
}

function toThinking(request: GenerateRequest, family: ModelFamily, dropsThoughts: boolean): Json | undefined {
  const binding = dropsThoughts ? { block_binding: { prefix_mismatch_behavior: 'drop_block' } } : {};
  if (family.adaptiveThinking) {
    const isOff = request.reasoningEffort === 'none' && request.thinking === undefined;
    if (isOff && family.optionalThinking) return { type: 'disabled' };
    if (request.thinking === undefined && !dropsThoughts) return undefined;
    const display = request.thinking === undefined ? {} : { display: 'summarized' };
    return { type: 'adaptive', ...display, ...binding };
  }
  if (request.thinking === undefined) return undefined;
  const budget = budgetWithin(request.maxTokens, request.thinking.budgetTokens, smallestBudget);
  return budget === undefined ? undefined : { type: 'enabled', budget_tokens: budget };
}

/** The API's effort levels. Without thinking, effort has no use. */
function effortLevel(request: GenerateRequest, family: ModelFamily): string | undefined {
  const effort = chooseEffort(request);
  if (!family.effort) return undefined;
  if (effort === 'none') return family.optionalThinking ? undefined : 'low';
  if (effort === 'minimal') return 'low';
  return effort === 'xhigh' && !family.adaptiveThinking ? 'high' : effort;
}

/** Structured output where the model supports it, else an instruction in the prompt. */
function toOutput(request: GenerateRequest, family: ModelFamily): { output?: Json; instruction?: string } {
  const effort = effortLevel(request, family);
  const output: Json = effort === undefined ? {} : { effort };
  const { responseFormat } = request;
  let instruction: string | undefined;
  if (responseFormat?.type === 'json') {
    instruction = jsonInstruction();
  } else if (responseFormat?.type === 'schema') {
    const schema = family.schemas ? closedSchema(responseFormat.schema) : undefined;
    if (schema !== undefined) output.format = { type: 'json_schema', schema };
    else instruction = jsonInstruction(responseFormat.schema);
  }
  return {
    ...(Object.keys(output).length > 0 && { output }),
    ...(instruction !== undefined && { instruction }),
  };
}

/** Results of tools stand first: the API wants them right behind the calls. */
function message({ role, content, breakpoints }: Turn, provider: string): CacheableMessage {
  const blocks = content.map((piece) =>
    role === 'user' ? userBlock(piece, provider) : assistantBlock(piece, provider),
  );
  const marked = breakpoints
    .map((place) => lastCacheable(blocks.slice(0, place + 1).filter((block) => block !== undefined)))
    .filter((block) => block !== undefined);
  const sent = blocks.filter((block) => block !== undefined);
  const results = sent.filter(({ type }) => type === 'tool_result');
  const others = sent.filter(({ type }) => type !== 'tool_result');
  return { role, content: [...results, ...others], marked };
}

function userBlock(piece: ModelContent, provider: string): Json | undefined {
  switch (piece.type) {
    case 'text':
      return textBlock(piece.text);
    case 'image':
      return { type: 'image', source: { type: 'base64', media_type: piece.mediaType, data: piece.data } };
    case 'document': {
      const text = documentText(piece);
      if (text === undefined && piece.mediaType !== 'application/pdf') {
        throw unsupported(provider, `a document of type ${piece.mediaType}`);
      }
      const source =
        text === undefined
          ? { type: 'base64', media_type: 'application/pdf', data: piece.data }
          : { type: 'text', media_type: 'text/plain', data: text };
      return { type: 'document', source, title: piece.name };
    }
    case 'tool_result':
      return {
        type: 'tool_result',
        tool_use_id: callId(piece.toolUseId),
        content: piece.content,
        ...(piece.isError && { is_error: true }),
      };
    default:
      throw unsupported(provider, `${piece.type} in a user message`);
  }
}

function assistantBlock(piece: ModelContent, provider: string): Json | undefined {
  switch (piece.type) {
    case 'text':
      return textBlock(piece.text);
    case 'tool_use': {
      const input = typeof piece.input === 'object' && piece.input !== null ? piece.input : {};
      return { type: 'tool_use', id: callId(piece.id), name: piece.name, input };
    }
    case 'thinking': {
      const { type, signature, data } = piece.block;
      const own =
        (type === 'thinking' && typeof signature === 'string') ||
        (type === 'redacted_thinking' && typeof data === 'string');
      // This API cannot read blocks of other providers.
      return own ? { ...piece.block } : undefined;
    }
    default:
      throw unsupported(provider, `${piece.type} in an assistant message`);
  }
}

/** The API refuses empty texts. */
function textBlock(text: string): Json | undefined {
  return text === '' ? undefined : { type: 'text', text };
}

/** Ids of other providers may hold characters that this one refuses. */
function callId(id: string): string {
  return id.replace(/[^A-Za-z0-9_-]/g, '_');
}
