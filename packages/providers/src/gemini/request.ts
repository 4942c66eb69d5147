import type { GenerateRequest, ModelContent } from '@questline/core';
import { documentText, titled, unsupported } from '../content/documents.ts';
import { effortOf } from '../content/effort.ts';
import { conversation, type Turn } from '../content/messages.ts';

type Json = Record<string, unknown>;

/** Stands for a signature nobody has, e.g. of a call that another vendor's model made: the documented way to say so. */
const noSignature = 'skip_thought_signature_validator';

/** Models before the third generation count thoughts by a budget, and sign no calls. */
function isSecondGeneration(model: string): boolean {
  return /gemini-[12]\b/.test(model);
}

/** The body of a streamed answer. Throws `invalid_request` for content the protocol has no place for. */
export function contentBody(request: GenerateRequest, provider: string): Json {
  const { system, turns } = conversation(provider, request.messages);
  const signs = !isSecondGeneration(request.model);
  return {
    ...(system.length > 0 && { systemInstruction: { parts: system.map((text) => ({ text })) } }),
    contents: turns.map((turn) => content(turn, provider, signs)).filter(({ parts }) => parts.length > 0),
    ...(request.tools !== undefined &&
      request.tools.length > 0 && {
        tools: [
          {
            functionDeclarations: request.tools.map(({ name, description, parameters }) => ({
              name,
              description,
              parametersJsonSchema: parameters,
            })),
          },
        ],
      }),
    generationConfig: {
      maxOutputTokens: request.maxTokens,
      ...(request.temperature !== undefined && { temperature: request.temperature }),
      ...(request.responseFormat !== undefined && { responseMimeType: 'application/json' }),
      ...(request.responseFormat?.type === 'schema' && { responseJsonSchema: request.responseFormat.schema }),
      ...thinkingOf(request),
    },
  };
}

function thinkingOf(request: GenerateRequest): Json {
  const { thinking } = request;
  const effort = effortOf(request);
  if (effort === undefined) return {};
  const shown = thinking === undefined ? {} : { includeThoughts: true };
  if (!isSecondGeneration(request.model)) return { thinkingConfig: { thinkingLevel: effort, ...shown } };
  const thinkingBudget = thinking?.budgetTokens ?? { low: 1024, medium: 8192, high: 24_576 }[effort];
  return { thinkingConfig: { thinkingBudget, ...shown } };
}

function content(turn: Turn, provider: string, signs: boolean): { role: string; parts: Json[] } {
  if (turn.role === 'user') {
    const parts = turn.content.map((piece) => userPart(piece, provider)).filter((part) => part !== undefined);
    return { role: 'user', parts };
  }
  return { role: 'model', parts: modelParts(turn.content, provider, signs) };
}

function userPart(piece: ModelContent, provider: string): Json | undefined {
  switch (piece.type) {
    case 'text':
      return piece.text === '' ? undefined : { text: piece.text };
    case 'image':
      return { inlineData: { mimeType: piece.mediaType, data: piece.data } };
    case 'document': {
      const text = documentText(piece);
      if (text !== undefined) return { text: titled(piece, text) };
      if (piece.mediaType !== 'application/pdf')
        throw unsupported(provider, `a document of type ${piece.mediaType}`);
      return { inlineData: { mimeType: 'application/pdf', data: piece.data } };
    }
    case 'tool_result': {
      const response = piece.isError ? { error: piece.content } : { output: piece.content };
      return { functionResponse: { id: piece.toolUseId, name: piece.toolName, response } };
    }
    default:
      throw unsupported(provider, `${piece.type} in a user message`);
  }
}

/**
 * Signatures go back on the very part they came with: a call's is found by the call's id, a text's goes on the last
 * text. Thoughts themselves are not sent back; the API wants their signatures only.
 */
function modelParts(pieces: readonly ModelContent[], provider: string, signs: boolean): Json[] {
  const signatures = new Map<string | undefined, string>();
  for (const piece of pieces) {
    if (piece.type !== 'thinking' || piece.block.type !== 'thought_signature') continue;
    const { signature, toolUseId } = piece.block;
    if (typeof signature === 'string') {
      signatures.set(typeof toolUseId === 'string' ? toolUseId : undefined, signature);
    }
  }

  const parts: Json[] = [];
  let lastText: Json | undefined;
  let calls = 0;
  for (const piece of pieces) {
    if (piece.type === 'text') {
      if (piece.text === '') continue;
      lastText = { text: piece.text };
      parts.push(lastText);
    } else if (piece.type === 'tool_use') {
      // Only the first of several calls made at once is signed, and must be.
      const missing = signs && calls === 0 ? noSignature : undefined;
      const thoughtSignature = signatures.get(piece.id) ?? missing;
      calls += 1;
      parts.push({
        functionCall: { id: piece.id, name: piece.name, args: piece.input ?? {} },
        ...(thoughtSignature !== undefined && { thoughtSignature }),
      });
    } else if (piece.type !== 'thinking') {
      throw unsupported(provider, `${piece.type} in an assistant message`);
    }
  }
  const textSignature = signatures.get(undefined);
  if (textSignature !== undefined && lastText !== undefined) lastText.thoughtSignature = textSignature;
  return parts;
}
