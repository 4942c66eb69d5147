import type { Usage } from '../../../ports/ledger.ts';
import type { AnswerPart, FinishReason } from '../../../ports/models.ts';
import type { Json } from '../../../ports/store.ts';
import { ApiError } from '../../../shared/errors.ts';

/** The answer of a stored response. Its parts are those that readers of the stream get, in the same pieces. */
export interface ResponseOutput {
  readonly parts: readonly AnswerPart[];
  /** The id of the model that answered. */
  readonly model?: string;
  readonly finishReason?: FinishReason;
  /** The billed tokens by class. Absent: the answer broke off. */
  readonly usage?: Usage;
  /** Why the answer broke off. */
  readonly failure?: ApiError;
}

type Fragment = Extract<AnswerPart, { type: 'text' | 'thinking_delta' }>;

/** Consecutive fragments of one type need their texts only. */
type Packed = Exclude<AnswerPart, Fragment> | { readonly type: Fragment['type']; readonly texts: string[] };

/** Whether a part belongs to the answer. Calls are kept when they are complete. */
export function isOutput({ type }: AnswerPart): boolean {
  return type !== 'tool_use_delta' && type !== 'usage' && type !== 'finish';
}

export function packOutput({ parts, failure, ...facts }: ResponseOutput): string {
  const packed: Packed[] = [];
  for (const part of parts) {
    if (part.type !== 'text' && part.type !== 'thinking_delta') {
      packed.push(part);
      continue;
    }
    const last = packed.at(-1);
    if (last?.type === part.type) last.texts.push(part.text);
    else packed.push({ type: part.type, texts: [part.text] });
  }
  return JSON.stringify({ ...facts, parts: packed, ...(failure && { failure: packFailure(failure) }) });
}

/** @param text of `packOutput`; undefined: there is no output. */
export function unpackOutput(text: string | undefined): ResponseOutput {
  if (text === undefined) return { parts: [] };
  const { parts, failure, ...facts } = JSON.parse(text) as Omit<ResponseOutput, 'parts' | 'failure'> & {
    readonly parts: readonly Packed[];
    readonly failure?: PackedFailure;
  };
  return {
    ...facts,
    parts: parts.flatMap((part): AnswerPart[] => {
      if (!('texts' in part)) return [part];
      const { type, texts } = part;
      return texts.map((one) => ({ type, text: one }));
    }),
    ...(failure && { failure: new ApiError(failure.status, failure.message, failure.options) }),
  };
}

interface PackedFailure {
  readonly status: number;
  readonly message: string;
  readonly options: Readonly<Record<string, Json>>;
}

function packFailure({ status, message, code, extra, headers, details }: ApiError): object {
  return { status, message, options: { code, extra, headers, details } };
}
