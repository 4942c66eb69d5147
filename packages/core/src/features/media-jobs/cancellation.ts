import type { ReservationServices } from '../../credits/reservations.ts';
import type { GetCatalogue } from '../../models/allowed-models.ts';
import type { PersonalData } from '../../operations/personal-data.ts';
import type { Filter, Store } from '../../ports/store.ts';
import type { QuestEvents } from '../../runs/quest-events.ts';
import type { GenerationWork } from './kind.ts';
import { release } from './money.ts';
import { MUSIC } from './music.ts';
import { CANCELLABLE, type GenerationRecord, hasEnded } from './records.ts';
import { getGenerations } from './stored.ts';
import { VIDEO } from './video.ts';

const CANCELLED = { code: 'cancelled', message: 'This generation was cancelled.' } as const;

export interface CancellationServices extends ReservationServices {
  readonly store: Store;
  readonly questEvents: QuestEvents;
  readonly getCatalogue: GetCatalogue;
  readonly worker: { readonly leaseMs: number };
}

/** Cancels a generation. @returns undefined if it is being stored or has ended, or the guard does not match. */
export async function cancelGeneration(
  services: CancellationServices,
  kind: Pick<GenerationWork, 'operation' | 'making'>,
  id: string,
  guard: Filter<GenerationRecord>,
): Promise<GenerationRecord | undefined> {
  const { clock, questEvents } = services;
  const generations = getGenerations(services.store);
  const now = clock.now();
  const patch = { state: 'cancelled', error: CANCELLED, updatedAt: now } as const;
  const unasked = await generations.update(
    id,
    { ...patch, nextCheckAt: undefined },
    { ...guard, state: CANCELLABLE, step: null },
  );
  // After the submission the provider's outcome decides about the credit: maintenance continues until it is known.
  const cancelled =
    unasked ??
    (await generations.update(
      id,
      { ...patch, nextCheckAt: now + services.worker.leaseMs },
      { ...guard, state: CANCELLABLE },
    ));
  if (cancelled === undefined) return undefined;
  // The worker that owns the job sees the cancellation and cancels at the provider.
  questEvents.stopped(cancelled.id);
  if (unasked !== undefined || (await canStop(services, kind, cancelled))) {
    await release(services, kind.operation, cancelled);
  }
  return cancelled;
}

/** Whether the provider accepts cancellations. If it fails to stop, the result is charged. */
async function canStop(
  { getCatalogue }: CancellationServices,
  { making }: Pick<GenerationWork, 'making'>,
  record: GenerationRecord,
): Promise<boolean> {
  const entry = (await getCatalogue({ userId: record.ownerId })).find(record.model);
  return entry === undefined || making(entry.provider, record)?.jobs?.cancel !== undefined;
}

export function personalGenerations(services: CancellationServices): PersonalData {
  const generations = getGenerations(services.store);
  return {
    async stop(ownerId) {
      const all = await generations.find({ ownerId });
      for (const { id, kind } of all.filter((one) => !hasEnded(one))) {
        await cancelGeneration(services, kind === 'video' ? VIDEO : MUSIC, id, { ownerId });
      }
      const left = await generations.find({ ownerId });
      // A cancelled one is maintained until its provider has stopped or is charged.
      return left.filter((one) => !hasEnded(one) || one.nextCheckAt !== undefined).length;
    },
  };
}
