import type { GenerateRequest, ModelContent } from '@questline/core';
import { documentText, unsupported } from '../content/documents.ts';
import { effortOf } from '../content/effort.ts';
import { conversation, jsonInstruction, type Turn } from '../content/messages.ts';
import { familyOf, type ModelFamily } from './families.ts';
import { closedSchema } from './schemas.ts';

type Json = Record<string, unknown>;

/** The API takes no smaller budget. */
const smallestBudget = 1024;

/** A request's body, and whether it needs the beta that drops thoughts of a changed conversation. */
export interface MessageCall {
  readonly body: Json;
  readonly dropsThoughts: boolean;
}

/** Throws `invalid_request` for content the protocol has no place for. */
export function messageCall(request: GenerateRequest, provider: string): MessageCall {
  const family = familyOf(request.model);
  const { system, turns } = conversation(provider, request.messages);
  const messages = turns.map((turn) => message(turn, provider)).filter(({ content }) => content.length > 0);
  const dropsThoughts =
    family.bindsThoughts && turns.some(({ content }) => content.some((piece) => piece.type === 'thinking'));
  const thinking = thinkingOf(request, family, dropsThoughts);
  const { output, instruction } = outputOf(request, family);
  const said = instruction === undefined ? system : [...system, instruction];
  // While a budget is thought through, the API takes no temperature but its own.
  const temperature = family.temperature && thinking?.type !== 'enabled' ? request.temperature : undefined;
  return {
    dropsThoughts,
    body: {
      model: request.model,
      max_tokens: request.maxTokens,
      ...(said.length > 0 && { system: said.map((text) => ({ type: 'text', text })) }),
      messages,
      ...(request.tools !== undefined &&
        request.tools.length > 0 && {
          tools: request.tools.map(({ name, description, parameters }) => ({
            name,
            description,
            input_schema: parameters,
          })),
        }),
      ...(thinking !== undefined && { thinking }),
      ...(output !== undefined && { output_config: output }),
      ...(temperature !== undefined && { temperature: Math.min(1, temperature) }),
      stream: true,
    },
  };
}

function thinkingOf(request: GenerateRequest, family: ModelFamily, dropsThoughts: boolean): Json | undefined {
  const binding = dropsThoughts ? { block_binding: { prefix_mismatch_behavior: 'drop_block' } } : {};
  if (family.adaptiveThinking) {
    if (request.thinking === undefined && !dropsThoughts) return undefined;
    const display = request.thinking === undefined ? {} : { display: 'summarized' };
    return { type: 'adaptive', ...display, ...binding };
  }
  // The budget is part of the bound on the answer, and must leave room for one.
  if (request.thinking === undefined || request.maxTokens <= smallestBudget) return undefined;
  const budget = Math.min(Math.max(request.thinking.budgetTokens, smallestBudget), request.maxTokens - 1);
  return { type: 'enabled', budget_tokens: budget };
}

/** The schema is the protocol's to keep where it can, else the model's, asked in words. */
function outputOf(request: GenerateRequest, family: ModelFamily): { output?: Json; instruction?: string } {
  const effort = family.effort ? effortOf(request) : undefined;
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
function message({ role, content }: Turn, provider: string): { role: string; content: Json[] } {
  const blocks: Json[] = [];
  const results: Json[] = [];
  for (const piece of content) {
    const block = role === 'user' ? userBlock(piece, provider) : assistantBlock(piece, provider);
    if (block === undefined) continue;
    if (block.type === 'tool_result') results.push(block);
    else blocks.push(block);
  }
  return { role, content: [...results, ...blocks] };
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
      // Blocks of other providers mean nothing here.
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
