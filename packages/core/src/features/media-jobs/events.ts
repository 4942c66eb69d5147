import type { GenerationEnded } from '../../events/event.ts';
import { getAccountOwner } from '../../events/ids.ts';
import { defineEventSource } from '../../events/source.ts';
import type { GenerationState } from './records.ts';
import { GENERATIONS, type StoredGeneration } from './stored.ts';

const OUTCOMES: Partial<Record<GenerationState, 'done' | 'failed' | 'stopped'>> = {
  succeeded: 'done',
  failed: 'failed',
  blocked: 'failed',
  cancelled: 'stopped',
};

export const generationEvents = defineEventSource<StoredGeneration>({
  collection: GENERATIONS,
  matches: ({ state }) => state !== undefined && OUTCOMES[state] !== undefined,
  toEvents({ before, after }) {
    const outcome = OUTCOMES[after.state];
    if (outcome === undefined || before?.state === after.state) return [];
    const { id, kind, model, ownerId, payer, file, error } = after;
    const data: GenerationEnded = {
      id,
      kind,
      model,
      ...getAccountOwner(payer.account),
      userId: ownerId,
      ...(file !== undefined && { fileId: file.id }),
      ...(error !== undefined && { errorCode: error.code }),
    };
    return [{ type: `generation.${outcome}`, key: id, data }];
  },
});
