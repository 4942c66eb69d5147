import type { GenerateRequest, ModelContent, ModelMessage } from '@questline/core';
import { documentText, titled, unsupported } from '../content/documents.ts';
import { effortOf } from '../content/effort.ts';
import { isStrictSchema } from '../content/strict-schema.ts';

/** What differs between the servers that speak this protocol. */
export interface CompletionDialect {
  /** For error texts. */
  readonly provider: string;
  readonly maxTokensField: 'max_completion_tokens' | 'max_tokens';
  /** Ask for token counts; some old servers refuse the question. */
  readonly streamUsage: boolean;
  takesEffort(model: string): boolean;
  /** Models that always reason refuse one. */
  takesTemperature(model: string): boolean;
  /** Whether documents may be sent as `file` parts. */
  readonly files: boolean;
}

type Json = Record<string, unknown>;

/** The body of a streamed completion. Throws `invalid_request` for content the protocol has no place for. */
export function completionBody(request: GenerateRequest, dialect: CompletionDialect): Json {
  const temperature = dialect.takesTemperature(request.model) ? request.temperature : undefined;
  const effort = dialect.takesEffort(request.model) ? effortOf(request) : undefined;
  return {
    model: request.model,
    messages: messagesOf(request, dialect),
    ...(request.tools !== undefined &&
      request.tools.length > 0 && {
        tools: request.tools.map(({ name, description, parameters }) => ({
          type: 'function',
          function: { name, description, parameters },
        })),
      }),
    [dialect.maxTokensField]: request.maxTokens,
    ...(temperature !== undefined && { temperature }),
    ...(effort !== undefined && { reasoning_effort: effort }),
    ...(request.responseFormat !== undefined && { response_format: responseFormat(request.responseFormat) }),
    stream: true,
    ...(dialect.streamUsage && { stream_options: { include_usage: true } }),
  };
}

function responseFormat(format: NonNullable<GenerateRequest['responseFormat']>): Json {
  if (format.type === 'json') return { type: 'json_object' };
  const name = format.name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'answer';
  const strict = isStrictSchema(format.schema);
  return { type: 'json_schema', json_schema: { name, schema: format.schema, strict } };
}

function messagesOf(request: GenerateRequest, dialect: CompletionDialect): Json[] {
  const messages: Json[] = [];
  // The protocol refuses JSON mode unless a message speaks of JSON.
  if (request.responseFormat?.type === 'json' && !request.messages.some(speaksOfJson)) {
    messages.push({ role: 'system', content: 'Answer with one JSON object.' });
  }
  for (const message of request.messages) {
    if (message.role === 'assistant') messages.push(assistantMessage(message.content, dialect));
    else if (message.role === 'system')
      messages.push({ role: 'system', content: plainText(message.content, dialect) });
    else messages.push(...userMessages(message.content, dialect));
  }
  return messages;
}

function speaksOfJson(message: ModelMessage): boolean {
  return message.content.some((content) => content.type === 'text' && /json/i.test(content.text));
}

/** Results of tools are messages of their own and stand right behind the calls, so they come before the rest. */
function userMessages(content: readonly ModelContent[], dialect: CompletionDialect): Json[] {
  const messages: Json[] = [];
  const parts: Json[] = [];
  for (const piece of content) {
    if (piece.type === 'tool_result') {
      const text = piece.isError ? `Error: ${piece.content}` : piece.content;
      messages.push({ role: 'tool', tool_call_id: piece.toolUseId, content: text });
    } else {
      parts.push(userPart(piece, dialect));
    }
  }
  const [first] = parts;
  if (parts.length === 1 && first?.type === 'text') messages.push({ role: 'user', content: first.text });
  else if (parts.length > 0) messages.push({ role: 'user', content: parts });
  return messages;
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
  let text = '';
  let reasoning = '';
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
      // Blocks of other providers mean nothing here.
      const { type, text: thought } = piece.block;
      if (type === 'reasoning_content' && typeof thought === 'string') reasoning += thought;
    } else {
      throw unsupported(dialect.provider, `${piece.type} in an assistant message`);
    }
  }
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    // Models that show their reasoning want it back while they wait for tools, and only then.
    ...(reasoning !== '' && calls.length > 0 && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function plainText(content: readonly ModelContent[], dialect: CompletionDialect): string {
  return content
    .map((piece) => {
      if (piece.type === 'text') return piece.text;
      throw unsupported(dialect.provider, `${piece.type} in a system message`);
    })
    .join('\n\n');
}
