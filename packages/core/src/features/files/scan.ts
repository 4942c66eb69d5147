import type { JobHandler } from '../../jobs/handler.ts';
import type { FileToCheck, Moderator, Verdict } from '../../ports/moderator.ts';
import type { ObjectStore } from '../../ports/objects.ts';
import type { LeasedJob } from '../../ports/queue.ts';
import type { Store } from '../../ports/store.ts';
import type { Incident } from '../../shared/incident.ts';
import { FILES, type FileRecord } from './records.ts';
import { quarantineKey, SCAN } from './uploads.ts';
import { giveRoomBack } from './usage.ts';

export interface ScanServices {
  readonly store: Store;
  readonly objects: ObjectStore;
  /** Null: every file of the announced size and type is clean. */
  readonly moderator: Moderator | null;
  readonly onError: (incident: Incident) => void;
}

const CONCURRENCY = 4;
const MAX_FAILURES = 3;
const PAUSE_MS = 2000;

/**
 * Moves an upload out of quarantine and decides about it. Checks a copy that no client has write access to, and
 * serves the same copy: later writes to the upload address change nothing.
 */
export function createScanHandler(services: ScanServices): JobHandler {
  const { store, objects } = services;
  const files = store.collection(FILES);

  const decide = async (
    file: FileRecord,
    objectKey: string,
    signal: AbortSignal,
  ): Promise<Verdict | undefined> => {
    const content = await objects.get(quarantineKey(file.id), undefined, { signal });
    if (content === undefined) return undefined;
    const { size, contentType } = content;
    if (size !== file.size || contentType.split(';', 1)[0]?.trim().toLowerCase() !== file.mimeType) {
      await content.body[Symbol.asyncIterator]().return?.();
      return { isClean: false, reason: 'the size or type differs from the announcement' };
    }
    await objects.put(objectKey, content.body, { contentType: file.mimeType, size: file.size }, { signal });
    return (
      services.moderator?.check(toCheck(objects, file, objectKey, signal), { signal }) ?? { isClean: true }
    );
  };

  const block = (file: FileRecord): Promise<unknown> =>
    store.transaction(async (inside) => {
      const blocked = await inside
        .collection(FILES)
        .update(file.id, { status: 'blocked' }, { status: 'scanning' });
      // Delete the bytes and release their quota.
      if (blocked !== undefined) await giveRoomBack(inside, file.ownerId, file.size);
    });

  return {
    kind: SCAN,
    concurrency: CONCURRENCY,
    async run(job, signal) {
      const { fileId } = job.payload as { fileId: string };
      const open = { status: { in: ['pending', 'scanning'] } } as const;
      const file = await files.update(fileId, { status: 'scanning' }, open);
      if (file === undefined) return undefined;
      const objectKey = getKey(job, job.fence);
      let isServed = false;
      try {
        const verdict = await decide(file, objectKey, signal);
        if (verdict === undefined) {
          await files.update(fileId, { status: 'pending' }, { status: 'scanning' });
          return undefined;
        }
        if (verdict.isClean) {
          const clean = await files.update(fileId, { status: 'clean', objectKey }, { status: 'scanning' });
          isServed = clean !== undefined;
        } else {
          await block(file);
          const error = new Error(`the file ${fileId} was blocked: ${verdict.reason}`);
          services.onError({ operation: 'files.blocked', requestId: '', error });
        }
      } catch (error) {
        if (signal.aborted) throw error;
        services.onError({ operation: `job:${SCAN}`, requestId: '', error });
        const failed = await files.add(fileId, { failures: 1 }, { status: 'scanning' });
        const failures = failed?.failures ?? 0;
        if (failed !== undefined && failures < MAX_FAILURES) {
          return { afterMs: PAUSE_MS * failures, countAttempt: false };
        }
        await block(file);
      } finally {
        if (!isServed) await objects.remove(objectKey);
      }
      // Left by an interrupted run.
      for (let fence = job.fence - 1; fence > 0; fence -= 1) await objects.remove(getKey(job, fence));
      await objects.remove(quarantineKey(fileId));
      return undefined;
    },
  };
}

/** Every run has a copy of its own: a run that lost its lease cannot change another's copy. */
function getKey({ payload }: LeasedJob, fence: number): string {
  return `files/${(payload as { fileId: string }).fileId}/${fence}`;
}

function toCheck(objects: ObjectStore, file: FileRecord, key: string, signal: AbortSignal): FileToCheck {
  const { name, mimeType, size, ownerId: owner } = file;
  async function* stream(range?: { start: number; end: number }): AsyncGenerator<Uint8Array> {
    const content = await objects.get(key, range, { signal });
    if (content === undefined) throw new Error('the copy that is being checked is gone');
    yield* content.body;
  }
  return {
    name,
    mimeType,
    size,
    owner,
    stream: () => stream(),
    async read(start, end) {
      if (start >= size || end <= start) return new Uint8Array(0);
      const parts: Uint8Array[] = [];
      for await (const part of stream({ start, end: Math.min(end, size) - 1 })) parts.push(part);
      return Buffer.concat(parts);
    },
  };
}
