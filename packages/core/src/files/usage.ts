import type { Store } from '../ports/store.ts';
import { FILE_USAGE } from './records.ts';

/**
 * Counts more bytes to a user. Exact under concurrency: of uploads at once, only so many are counted as there is room for.
 * @returns false, and nothing counted, when there is no room.
 */
export async function takeRoom(
  store: Store,
  userId: string,
  bytes: number,
  quotaBytes: number,
): Promise<boolean> {
  if (bytes > quotaBytes) return false;
  const usage = store.collection(FILE_USAGE);
  const room = { bytes: { lte: quotaBytes - bytes } };
  if ((await usage.add(userId, { bytes }, room)) !== undefined) return true;
  // The first file of a user, unless another came first; then there is no room, or is now.
  if (await usage.insert({ id: userId, bytes })) return true;
  return (await usage.add(userId, { bytes }, room)) !== undefined;
}

export async function giveRoomBack(store: Store, userId: string, bytes: number): Promise<void> {
  await store.collection(FILE_USAGE).add(userId, { bytes: -bytes });
}
