import { randomUUID } from 'node:crypto';
import { type FinishReason, type ModelPart, ProviderError, type Usage } from '@questline/core/ports';
import { text as getText } from '../content/fields.ts';
import { finishPart } from '../content/finish.ts';
import { checkGathered } from '../content/tool-arguments.ts';
import type { EventDecoder } from '../http/event-stream.ts';
import type { Faults } from '../http/faults.ts';

interface UsageMetadata {
  readonly promptTokenCount?: number;
  readonly toolUsePromptTokenCount?: number;
  readonly candidatesTokenCount?: number;
  readonly cachedContentTokenCount?: number;
  readonly thoughtsTokenCount?: number;
}

interface Part {
  readonly text?: string;
  readonly thought?: boolean;
  readonly thoughtSignature?: string;
  readonly functionCall?: { readonly id?: string; readonly name?: string; readonly args?: unknown };
}

interface GenerateContentResponse {
  readonly candidates?: readonly {
    readonly content?: { readonly parts?: readonly Part[] };
    readonly finishReason?: string;
  }[];
  readonly promptFeedback?: { readonly blockReason?: string };
  readonly modelVersion?: unknown;
  readonly usageMetadata?: UsageMetadata;
  readonly error?: unknown;
}

const reasons: Readonly<Record<string, FinishReason>> = {
  STOP: 'stop',
  MAX_TOKENS: 'max_tokens',
  // A long answer that reached the limit of one request.
  CONTINUATION: 'max_tokens',
  SAFETY: 'content_filter',
  RECITATION: 'content_filter',
  BLOCKLIST: 'content_filter',
  PROHIBITED_CONTENT: 'content_filter',
  SPII: 'content_filter',
};

/** The output is neither an answer nor a valid call. */
const malformed: ReadonlySet<string> = new Set([
  'MALFORMED_FUNCTION_CALL',
  'MALFORMED_RESPONSE',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MISSING_THOUGHT_SIGNATURE',
]);

/** Reads the events of a streamed `generateContent`. */
export class ContentDecoder implements EventDecoder {
  readonly #faults: Faults;
  #thoughts = '';
  #calls = 0;
  #model: string | undefined;
  #reason: FinishReason | undefined;
  #counted = false;

  constructor(faults: Faults) {
    this.#faults = faults;
  }

  event(data: string, parts: ModelPart[]): boolean {
    const response = JSON.parse(data) as GenerateContentResponse;
    if (response.error !== undefined) throw this.#faults.event(response);
    const blocked = response.promptFeedback?.blockReason;
    if (blocked !== undefined) throw new ProviderError('content_blocked', `refused the prompt: ${blocked}`);
    this.#model ??= getText(response.modelVersion);
    const candidate = response.candidates?.[0];
    for (const part of candidate?.content?.parts ?? []) this.#part(part, parts);
    if (response.usageMetadata !== undefined) {
      this.#counted = true;
      parts.push({ type: 'usage', usage: splitUsage(response.usageMetadata) });
    }
    if (candidate?.finishReason !== undefined && this.#reason === undefined) {
      if (malformed.has(candidate.finishReason)) {
        throw new ProviderError('malformed_answer', `ended with ${candidate.finishReason}`, {
          code: candidate.finishReason,
        });
      }
      this.#reason = reasons[candidate.finishReason] ?? 'other';
    }
    // The protocol has no final event: usage may follow the finish reason.
    return false;
  }

  end(parts: ModelPart[]): void {
    if (this.#reason === undefined || !this.#counted) {
      throw new ProviderError('failed', 'the stream ended before the answer was complete');
    }
    if (this.#thoughts !== '') {
      parts.push({ type: 'thinking', block: { type: 'thought', text: this.#thoughts } });
    }
    const reason = this.#calls > 0 && this.#reason === 'stop' ? 'tool_use' : this.#reason;
    parts.push(finishPart(reason, this.#model));
  }

  #part({ text, thought, thoughtSignature, functionCall }: Part, parts: ModelPart[]): void {
    if (functionCall !== undefined) {
      const { name, args = {} } = functionCall;
      if (!name) throw new ProviderError('malformed_answer', 'a tool call without a name');
      // Older versions of this API send no ids, and a result needs one to refer to its call.
      const id = functionCall.id || `call_${randomUUID()}`;
      const index = this.#calls;
      this.#calls += 1;
      if (thoughtSignature !== undefined) parts.push(signed(thoughtSignature, id));
      const json = JSON.stringify(args);
      // The API sends whole calls: one piece.
      parts.push({ type: 'tool_use_delta', index, id, name, arguments: json });
      parts.push({ type: 'tool_use', id, name, arguments: json });
      return;
    }
    if (text) {
      if (thought === true) {
        this.#thoughts += text;
        checkGathered(this.#thoughts.length);
        parts.push({ type: 'thinking_delta', text });
      } else {
        parts.push({ type: 'text', text });
      }
    }
    if (thoughtSignature !== undefined) parts.push(signed(thoughtSignature));
  }
}

/** A separate block, so that the signature returns with any storage of messages. */
function signed(signature: string, toolUseId?: string): ModelPart {
  return {
    type: 'thinking',
    block: { type: 'thought_signature', signature, ...(toolUseId !== undefined && { toolUseId }) },
  };
}

/** The prompt includes cached tokens; the candidates exclude the thinking. */
function splitUsage(usage: UsageMetadata): Usage {
  const cachedInput = usage.cachedContentTokenCount ?? 0;
  const prompt = (usage.promptTokenCount ?? 0) + (usage.toolUsePromptTokenCount ?? 0);
  return {
    input: Math.max(0, prompt - cachedInput),
    output: usage.candidatesTokenCount ?? 0,
    cachedInput,
    reasoning: usage.thoughtsTokenCount ?? 0,
  };
}
