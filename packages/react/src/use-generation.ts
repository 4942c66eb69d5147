import { useMemo } from 'react';
import { useAttached } from './attached.ts';
import { type GenerationKind, type GenerationTypes, type KindRules, RULES } from './generation-kinds.ts';
import { createGeneration, type GenerationState } from './generation-store.ts';
import { countEnd, useQuestlineContext } from './provider.ts';
import { createMemory } from './storage.ts';

export interface GenerationOptions {
  /** A name for the job in `sessionStorage`. With it, a reload continues to follow the job. */
  readonly storageKey?: string | undefined;
}

export interface Generation<Kind extends GenerationKind>
  extends GenerationState<GenerationTypes[Kind]['job']> {
  /** Resolves with true when the server has accepted the request; with false when it has not, or while a job runs. Never rejects. */
  readonly start: (request: GenerationTypes[Kind]['request']) => Promise<boolean>;
  readonly cancel: () => Promise<void>;
  /** Forgets an ended job. */
  readonly reset: () => void;
}

/**
 * Generates images, a video or music. Unmounting stops the reading, not the job.
 * @example
 * const video = useGeneration('video');
 * await video.start({ model: 'veo', prompt: 'A river', duration_seconds: 4 });
 */
export function useGeneration<Kind extends GenerationKind>(
  kind: Kind,
  { storageKey }: GenerationOptions = {},
): Generation<Kind> {
  const context = useQuestlineContext();
  const store = useMemo(() => {
    const rules: KindRules<GenerationTypes[Kind]['request'], GenerationTypes[Kind]['job']> = RULES[kind];
    const memory = createMemory<string>(storageKey);
    return createGeneration(context.client, { rules, memory, onEnd: countEnd(context) });
  }, [context, kind, storageKey]);
  return { ...useAttached(store), start: store.start, cancel: store.cancel, reset: store.reset };
}
