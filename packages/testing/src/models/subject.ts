import type {
  GenerateRequest,
  ModelContent,
  ModelPart,
  ModelProvider,
  ProviderErrorKind,
} from '@questline/core';
import { expect } from 'vitest';
import type { Case, Subject } from '../suite.ts';

/** What the upstream behind a provider is to do with every call. */
export type ModelScenario =
  /** Says this, in this order, reports usage if there is any, and ends well. */
  | { readonly kind: 'answer'; readonly parts: readonly ModelPart[] }
  /** Refuses the call before it says anything. */
  | { readonly kind: 'refuse'; readonly error: ProviderErrorKind; readonly retryAfterMs?: number }
  /** Takes the call and says nothing, not even that it has taken it. */
  | { readonly kind: 'silent' }
  /** Says this and then nothing more, until the caller has left. */
  | { readonly kind: 'stall'; readonly parts: readonly ModelPart[] }
  /** Says this, and then the connection breaks. */
  | { readonly kind: 'break'; readonly parts: readonly ModelPart[] };

export interface ModelStage {
  readonly provider: ModelProvider;
  /** The provider's own name of a text model, as `generate` takes it. */
  readonly model: string;
  /** Calls the upstream has seen so far. */
  calls(): number;
  /** Resolves when the upstream has seen its first call. */
  called(): Promise<unknown>;
  /** Resolves when the upstream has noticed that its first caller left. */
  left(): Promise<unknown>;
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

/** The parts of a stream, one by one, however they were joined. */
export async function* partsOf(
  stream: AsyncIterable<ModelPart | readonly ModelPart[]>,
): AsyncGenerator<ModelPart> {
  for await (const chunk of stream) {
    if ('type' in chunk) yield chunk;
    else yield* chunk;
  }
}

export async function allParts(stage: ModelStage, signal?: AbortSignal): Promise<ModelPart[]> {
  const parts: ModelPart[] = [];
  const stream = await stage.provider.generate(requestTo(stage), signal ? { signal } : {});
  for await (const part of partsOf(stream)) parts.push(part);
  return parts;
}

export function textOf(parts: readonly ModelPart[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

const PATIENCE_MS = 10_000;

/** Fails when something does not happen within some seconds: a hang must not hang the suite. */
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

/** What a promise rejects with; fails the case when it does not. */
export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
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
