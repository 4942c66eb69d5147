import { hashSecret } from '../identity/secrets.ts';

/**
 * The id of a file that a piece of work makes. Known before it is made: a worker that does the work again, after another
 * one vanished, finds what was kept instead of keeping it twice.
 */
export function madeFileId(workId: string, place: number): string {
  return hashSecret(`${workId}:${place}`).slice(0, 24);
}
