import type { GenerateRequest, ModelContent, ThinkingBlock } from '@questline/core/ports';
import { budgetWithin } from '../content/answer-room.ts';
import { documentText, titled, unsupported } from '../content/documents.ts';
import { chooseEffort } from '../content/effort.ts';
import { conversation, type Turn } from '../content/messages.ts';

type Json = Record<string, unknown>;

/** The documented placeholder for a missing signature, e.g. of a call by a model of another vendor. */
const noSignature = 'skip_thought_signature_validator';

/** Models before the third generation use thinking budgets and have no signatures. */
function isSecondGeneration(model: string): boolean {
  return /gemini-[12]\b/.test(model);
}

/** The API's maximum number of stop sequences. */
const MAX_STOPS = 5;

/** The body of a streamed answer. Throws `invalid_request` for content the protocol has no place for. */
export function contentBody(request: GenerateRequest, provider: string): Json {
  const { system, turns } = conversation(provider, request.messages);
  const signs = !isSecondGeneration(request.model);
  return {
    ...(system.length > 0 && { systemInstruction: { parts: system.map((text) => ({ text })) } }),
    contents: turns.map((turn) => content(turn, provider, signs)).filter(({ parts }) => parts.length > 0),
    ...toTools(request),
    generationConfig: {
      maxOutputTokens: request.maxTokens,
      ...(request.temperature !== undefined && { temperature: request.temperature }),
      ...(request.topP !== undefined && { topP: request.topP }),
      ...(request.topK !== undefined && { topK: request.topK }),
      ...(request.stop !== undefined &&
        request.stop.length > 0 && { stopSequences: request.stop.slice(0, MAX_STOPS) }),
      ...(request.seed !== undefined && { seed: request.seed }),
      ...(request.responseFormat !== undefined && { responseMimeType: 'application/json' }),
      ...(request.responseFormat?.type === 'schema' && { responseJsonSchema: request.responseFormat.schema }),
      ...toThinking(request),
    },
  };
}

/** The API takes no option to call one tool at a time: `parallelToolCalls` has no effect. */
function toTools({ tools = [], toolChoice }: GenerateRequest): Json {
  if (tools.length === 0) return {};
  const functionDeclarations = tools.map(({ name, description, parameters }) => ({
    name,
    description,
    parametersJsonSchema: parameters,
  }));
  const functionCallingConfig = callingConfig(toolChoice);
  return {
    tools: [{ functionDeclarations }],
    ...(functionCallingConfig !== undefined && { toolConfig: { functionCallingConfig } }),
  };
}

function callingConfig(choice: GenerateRequest['toolChoice']): Json | undefined {
  if (choice === undefined || choice === 'auto') return undefined;
  if (choice === 'none') return { mode: 'NONE' };
  if (choice === 'required') return { mode: 'ANY' };
  return { mode: 'ANY', allowedFunctionNames: [choice.name] };
}

/** The budget per effort level, for models without levels. */
const EFFORT_BUDGETS = { none: 0, minimal: 512, low: 1024, medium: 8192, high: 24_576, xhigh: 24_576 };
/** The levels of all models since the third generation. */
const EFFORT_LEVELS = {
  none: 'low',
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
} as const;

function toThinking(request: GenerateRequest): Json {
  const { thinking } = request;
  const effort = chooseEffort(request);
  if (effort === undefined) return {};
  const shown = thinking === undefined ? {} : { includeThoughts: true };
  if (!isSecondGeneration(request.model)) {
    return { thinkingConfig: { thinkingLevel: EFFORT_LEVELS[effort], ...shown } };
  }
  const wanted = thinking?.budgetTokens ?? EFFORT_BUDGETS[effort];
  return { thinkingConfig: { thinkingBudget: budgetWithin(request.maxTokens, wanted, 0), ...shown } };
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
 * Signatures return on the part they came with: a call's is looked up by the call's id; another one belongs to the text
 * before it, or to the last text if blocks have lost their position. Thoughts themselves are not sent back;
 * the API needs only their signatures.
 */
function modelParts(pieces: readonly ModelContent[], provider: string, signs: boolean): Json[] {
  const ofCalls = new Map<string, string>();
  const parts: Json[] = [];
  let lastText: Json | undefined;
  let unplaced: string | undefined;
  for (const piece of pieces) {
    const signature = piece.type === 'thinking' ? signatureIn(piece.block) : undefined;
    if (signature?.toolUseId !== undefined) ofCalls.set(signature.toolUseId, signature.value);
  }

  let calls = 0;
  for (const piece of pieces) {
    if (piece.type === 'text') {
      if (piece.text === '') continue;
      lastText = { text: piece.text };
      parts.push(lastText);
    } else if (piece.type === 'tool_use') {
      // Of parallel calls, only the first has a signature, and needs one.
      const missing = signs && calls === 0 ? noSignature : undefined;
      const thoughtSignature = ofCalls.get(piece.id) ?? missing;
      calls += 1;
      parts.push({
        functionCall: { id: piece.id, name: piece.name, args: piece.input ?? {} },
        ...(thoughtSignature !== undefined && { thoughtSignature }),
      });
    } else if (piece.type === 'thinking') {
      const signature = signatureIn(piece.block);
      if (signature === undefined || signature.toolUseId !== undefined) continue;
      if (lastText === undefined) unplaced = signature.value;
      else lastText.thoughtSignature = signature.value;
    } else {
      throw unsupported(provider, `${piece.type} in an assistant message`);
    }
  }
  if (unplaced !== undefined && lastText !== undefined) lastText.thoughtSignature ??= unplaced;
  return parts;
}

function signatureIn({ type, signature, toolUseId }: ThinkingBlock) {
  if (type !== 'thought_signature' || typeof signature !== 'string') return undefined;
  return { value: signature, toolUseId: typeof toolUseId === 'string' ? toolUseId : undefined };
}
