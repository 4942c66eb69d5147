import { hashSecret } from '../../shared/secrets.ts';

/**
 * The id of the file that a piece of work produces. It is known in advance: a worker that repeats the work after a crash
 * finds the stored file instead of storing it twice.
 */
export function madeFileId(workId: string, place: number): string {
  return hashSecret(`${workId}:${place}`).slice(0, 24);
}
