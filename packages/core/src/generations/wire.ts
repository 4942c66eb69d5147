import { toCredits } from '../credits/amounts.ts';
import type { FileLibrary } from '../files/library.ts';
import { FILES } from '../files/records.ts';
import type { Store } from '../ports/store.ts';
import type { CommonJob } from './contract.ts';
import type { GenerationKind } from './kind.ts';
import { type GenerationRecord, hasEnded } from './records.ts';

/** A generation as its owner sees it. */
export async function toWireGeneration<Body>(
  services: { readonly store: Store; readonly library: FileLibrary },
  kind: GenerationKind<Body>,
  record: GenerationRecord,
  mountPath: string,
): Promise<object> {
  const output = await outputOf(services, record, mountPath);
  return kind.toWire(toCommonWire(record, output), record.wish);
}

export function toCommonWire(record: GenerationRecord, output: CommonJob['output']): CommonJob {
  const { state, wish, prices, settled } = record;
  const isMetered = prices !== undefined;
  const isOver = hasEnded(record);
  return {
    id: record.id,
    // Nobody is shown one whose credit is not held.
    state: state === 'reserving' ? 'pending' : state,
    model: record.model,
    prompt: wish.prompt,
    duration_seconds: wish.durationSeconds,
    source: record.source,
    progress: state === 'storing' || state === 'succeeded' ? 1 : (record.progress ?? null),
    error: record.error ?? null,
    output,
    credits: {
      reserved: isMetered && !isOver ? toCredits(record.reserved) : null,
      settled: isMetered && isOver ? toCredits(settled ?? 0) : null,
    },
    created_at: new Date(record.createdAt).toISOString(),
    updated_at: new Date(record.updatedAt).toISOString(),
  };
}

async function outputOf(
  { store, library }: { readonly store: Store; readonly library: FileLibrary },
  { state, file: kept, ownerId, resultSeconds, wish }: GenerationRecord,
  mountPath: string,
): Promise<CommonJob['output']> {
  if (state !== 'succeeded' || kept === undefined) return null;
  const file = await store.collection(FILES).get(kept.id, { ownerId });
  const link = file && (await library.link(file, mountPath));
  const isBeingChecked = file?.status === 'pending' || file?.status === 'scanning';
  return {
    availability: file?.status === 'clean' ? 'ready' : isBeingChecked ? 'pending_scan' : 'unavailable',
    url: link?.url ?? null,
    expires_at: link === undefined ? null : new Date(link.expiresAt).toISOString(),
    content_type: kept.mimeType,
    duration_seconds: resultSeconds ?? wish.durationSeconds,
    file_id: file?.id ?? null,
  };
}
