import type {
  GenerateRequest,
  ModelContent,
  ModelPart,
  ModelProvider,
  ProviderErrorKind,
  ToolChoice,
} from '@questline/core/ports';
import { expect } from 'vitest';
import type { Case, Subject } from '../suite.ts';

/** The behaviour of the upstream for every call. */
export type ModelScenario =
  /** Sends these parts in order, reports usage if given, and ends. */
  | { readonly kind: 'answer'; readonly parts: readonly ModelPart[] }
  /** Rejects the call before any output. */
  | { readonly kind: 'refuse'; readonly error: ProviderErrorKind; readonly retryAfterMs?: number }
  /** Accepts the call and sends nothing, not even headers. */
  | { readonly kind: 'silent' }
  /** Sends these parts and then nothing until the caller disconnects. */
  | { readonly kind: 'stall'; readonly parts: readonly ModelPart[] }
  /** Sends these parts and breaks the connection. */
  | { readonly kind: 'break'; readonly parts: readonly ModelPart[] };

export interface ModelStage {
  readonly provider: ModelProvider;
  /** The provider's id of a text model, for `generate`. */
  readonly model: string;
  /** The last request at the upstream. Absent: requests are not checked. */
  received?(): ReceivedRequest;
  /** Number of calls that the upstream has received. */
  calls(): number;
  /** Resolves when the upstream receives its first call. */
  called(): Promise<unknown>;
  /** Resolves when the upstream notices the disconnect of its first caller. */
  left(): Promise<unknown>;
}

/**
 * A request at the upstream, in the types of the port. A field exists if the upstream has it, and is undefined
 * if it was not sent.
 */
export interface ReceivedRequest {
  readonly toolNames?: readonly string[];
  readonly toolChoice?: ToolChoice | undefined;
  readonly parallelToolCalls?: boolean | undefined;
  readonly topP?: number | undefined;
  readonly topK?: number | undefined;
  readonly stop?: readonly string[] | undefined;
  readonly seed?: number | undefined;
  readonly cacheKey?: string | undefined;
}

export interface ModelsSubject extends Subject {
  /** A provider over an upstream that follows the scenario. */
  stage(scenario: ModelScenario): Promise<ModelStage>;
}

export type ModelsCase = Case<ModelsSubject>;

export function requestTo({ model }: Pick<ModelStage, 'model'>, text = 'Hello'): GenerateRequest {
  const content: ModelContent[] = [{ type: 'text', text }];
  return { model, messages: [{ role: 'user', content }], maxTokens: 100 };
}

/** The parts of a stream, one by one, for any chunking. */
export async function* readParts(
  stream: AsyncIterable<ModelPart | readonly ModelPart[]>,
): AsyncGenerator<ModelPart> {
  for await (const chunk of stream) {
    if ('type' in chunk) yield chunk;
    else yield* chunk;
  }
}

export async function allParts(
  stage: ModelStage,
  signal?: AbortSignal,
  request: GenerateRequest = requestTo(stage),
): Promise<ModelPart[]> {
  const parts: ModelPart[] = [];
  const stream = await stage.provider.generate(request, signal ? { signal } : {});
  for await (const part of readParts(stream)) parts.push(part);
  return parts;
}

export function getText(parts: readonly ModelPart[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

const PATIENCE_MS = 10_000;

/** Rejects after some seconds, so that a hanging provider does not hang the suite. */
export async function soon<T>(what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`${what} did not happen within ${PATIENCE_MS} ms`)),
      PATIENCE_MS,
    );
  });
  try {
    return await Promise.race([promise, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the error of a promise; fails the case if it resolves. */
export async function catchRejection(promise: Promise<unknown>): Promise<unknown> {
  let rejection: unknown;
  const isRejected = await promise.then(
    () => false,
    (error: unknown) => {
      rejection = error;
      return true;
    },
  );
  expect(isRejected, 'expected a rejection').toBe(true);
  return rejection;
}
