import { isId } from '../http/identifiers.ts';
import type { Incident } from '../incident.ts';
import type { ObjectLinks } from '../objects/links.ts';
import { isSafeInline } from '../objects/safety.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { Moderator } from '../ports/moderator.ts';
import type { ObjectContent, ObjectStore } from '../ports/objects.ts';
import type { CallOptions } from '../ports/options.ts';
import type { JobQueue } from '../ports/queue.ts';
import type { Store } from '../ports/store.ts';
import type { Switches } from '../settings/admin.ts';
import { canRead } from '../sharing/access.ts';
import { FILES, type FileRecord } from './records.ts';
import { quarantineKey, scanJob } from './uploads.ts';
import { giveRoomBack, takeRoom } from './usage.ts';

/** Links to files are good for so long, and signed anew at each read. @see open points, 1.8 */
export const LINK_MS = 15 * 60_000;

export type SkippedReason = 'storage_limit' | 'file_too_large' | 'error';

/** Something made here that is to be kept. */
export interface GeneratedFile {
  readonly name: string;
  readonly mimeType: string;
  readonly content: Uint8Array | AsyncIterable<Uint8Array>;
  /**
   * The id of the file, minted before: saving it again, after a crash or a retry, finds what was saved and reads no
   * content. Default: a new one.
   */
  readonly id?: string;
  /** It is checked like an upload before anybody may use it. Default: it is clean from the start. */
  readonly isModerated?: boolean;
}

export type SavedFile =
  | { readonly file: FileRecord; readonly skipped?: undefined }
  | { readonly file?: undefined; readonly skipped: SkippedReason };

export interface FileLink {
  readonly url: string;
  readonly expiresAt: number;
}

/** Files for the rest of the service: to keep what was made, and to read what is clean. */
export interface FileLibrary {
  /** Keeps bytes made here as a file of the user's. Never rejects but for the signal. */
  save(userId: string, made: GeneratedFile, options?: CallOptions): Promise<SavedFile>;
  /** @returns undefined for a file that is unknown, that the user cannot read, or that is not clean. */
  get(userId: string, id: string): Promise<FileRecord | undefined>;
  /** The bytes that were found clean. Must be read or returned. @returns undefined as `get`. */
  open(userId: string, id: string, options?: CallOptions): Promise<ObjectContent | undefined>;
  /** All of them at once. @returns undefined as `get`, and for more than `limit` bytes. */
  read(userId: string, id: string, limit: number, options?: CallOptions): Promise<Uint8Array | undefined>;
  /**
   * A link for whoever may read the file: 15 minutes, shown in a browser only where that is safe.
   * @param mountPath of the call it is made for. @returns undefined when the store cannot sign, and for what is not clean.
   */
  link(file: FileRecord, mountPath: string): Promise<FileLink | undefined>;
}

export interface LibraryServices {
  readonly store: Store;
  readonly queue: JobQueue;
  /** Null: nobody checks. */
  readonly moderator: Moderator | null;
  readonly objects: ObjectStore;
  readonly objectLinks: ObjectLinks;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly switches: Switches;
  /** Bytes. */
  readonly storageQuota: number;
  readonly onError: (incident: Incident) => void;
}

export function createFileLibrary(services: LibraryServices): FileLibrary {
  const { store, objects, objectLinks, clock, ids } = services;
  const files = store.collection(FILES);

  const get: FileLibrary['get'] = async (userId, id) =>
    isId(id) ? files.get(id, { status: 'clean', ...canRead(userId) }) : undefined;

  const open: FileLibrary['open'] = async (userId, id, options) => {
    const file = await get(userId, id);
    return file?.objectKey === undefined ? undefined : objects.get(file.objectKey, undefined, options);
  };

  const keep = async (userId: string, made: GeneratedFile, options?: CallOptions): Promise<SavedFile> => {
    const known = made.id === undefined ? undefined : await files.get(made.id, { ownerId: userId });
    if (known !== undefined) return scanned(known);
    const { MaxFileSize: most } = await services.switches.current();
    if (made.content instanceof Uint8Array && made.content.length > most)
      return { skipped: 'file_too_large' };
    const id = made.id ?? ids.next();
    const isChecked = made.isModerated === true && services.moderator !== null;
    const objectKey = isChecked
      ? quarantineKey(id)
      : `files/${id}/${Buffer.from(ids.bytes(8)).toString('hex')}`;
    const { name, mimeType } = made;
    const content = made.content instanceof Uint8Array ? made.content : atMost(made.content, most);
    let isKept = false;
    try {
      const { size } = await objects.put(objectKey, content, { contentType: mimeType }, options);
      const file: FileRecord = {
        id,
        ownerId: userId,
        name,
        mimeType,
        size,
        status: isChecked ? 'scanning' : 'clean',
        source: 'generated',
        createdAt: clock.now(),
        ...(!isChecked && { objectKey }),
      };
      const outcome = await keepRecord(services, file);
      // Quarantine is the file's one place, whoever keeps it; all else was written by us alone.
      isKept = isChecked ? outcome.file !== undefined : outcome.file?.objectKey === objectKey;
      return outcome.file === undefined ? outcome : await scanned(outcome.file);
    } catch (error) {
      if (error instanceof TooLarge) return { skipped: 'file_too_large' };
      throw error;
    } finally {
      // Of what is checked, somebody else may have kept it in the same place.
      const isSpare = !isKept && !(isChecked && (await files.get(id)) !== undefined);
      if (isSpare) await objects.remove(objectKey);
    }
  };

  /** Whoever kept it first may have died before it was queued. */
  const scanned = async (file: FileRecord): Promise<SavedFile> => {
    if (file.status === 'scanning') await services.queue.enqueue(scanJob(file.id));
    return { file };
  };

  return {
    get,
    open,

    async save(userId, made, options) {
      try {
        return await keep(userId, made, options);
      } catch (error) {
        options?.signal?.throwIfAborted();
        services.onError({ operation: 'files.save', requestId: '', error });
        return { skipped: 'error' };
      }
    },

    async read(userId, id, limit, options) {
      const content = await open(userId, id, options);
      if (content === undefined) return undefined;
      const parts: Uint8Array[] = [];
      let size = 0;
      for await (const part of content.body) {
        size += part.length;
        if (size > limit) return undefined;
        parts.push(part);
      }
      return Buffer.concat(parts, size);
    },

    async link({ status, objectKey, mimeType, name }, mountPath) {
      if (status !== 'clean' || objectKey === undefined) return undefined;
      const expiresAt = clock.now() + LINK_MS;
      const terms = {
        expiresAt,
        contentType: mimeType,
        ...(!isSafeInline(mimeType) && { attachment: name }),
      };
      const url = await objectLinks.get(objectKey, terms, mountPath);
      return url === undefined ? undefined : { url, expiresAt };
    },
  };
}

/** The room and the record together: bytes nobody has a file for would never be given back. */
async function keepRecord({ store, storageQuota }: LibraryServices, file: FileRecord): Promise<SavedFile> {
  return store.transaction(async (inside): Promise<SavedFile> => {
    const { ownerId, size, id } = file;
    if (!(await takeRoom(inside, ownerId, size, storageQuota))) return { skipped: 'storage_limit' };
    const files = inside.collection(FILES);
    if (await files.insert(file)) return { file };
    // Somebody saved it at the same time.
    await giveRoomBack(inside, ownerId, size);
    const known = await files.get(id, { ownerId });
    return known === undefined ? { skipped: 'error' } : { file: known };
  });
}

class TooLarge extends Error {
  override readonly name = 'TooLarge';
}

async function* atMost(content: AsyncIterable<Uint8Array>, most: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const part of content) {
    size += part.length;
    if (size > most) throw new TooLarge();
    yield part;
  }
}
