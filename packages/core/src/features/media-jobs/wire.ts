import { toCredits } from '../../credits/amounts.ts';
import type { Store } from '../../ports/store.ts';
import type { FileLibrary } from '../files/library.ts';
import { FILES } from '../files/records.ts';
import type { CommonJob } from './contract.ts';
import type { GenerationKind } from './kind.ts';
import { type GenerationRecord, hasEnded } from './records.ts';

/** A generation as the API returns it. */
export async function toWireGeneration<Body>(
  services: { readonly store: Store; readonly library: FileLibrary },
  kind: GenerationKind<Body>,
  record: GenerationRecord,
  mountPath: string,
): Promise<object> {
  const output = await toOutput(services, record, mountPath);
  return kind.toWire(toCommonWire(record, output), record.input);
}

export function toCommonWire(record: GenerationRecord, output: CommonJob['output']): CommonJob {
  const { state, input, prices, settled } = record;
  const isMetered = prices !== undefined;
  const isOver = hasEnded(record);
  return {
    id: record.id,
    // The API never shows a generation without held credit.
    state: state === 'reserving' ? 'pending' : state,
    model: record.model,
    prompt: input.prompt,
    duration_seconds: input.durationSeconds,
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

async function toOutput(
  { store, library }: { readonly store: Store; readonly library: FileLibrary },
  { state, file: kept, ownerId, resultSeconds, input }: GenerationRecord,
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
    duration_seconds: resultSeconds ?? input.durationSeconds,
    file_id: file?.id ?? null,
  };
}
