import type { Store } from '../../ports/store.ts';
import { FILE_USAGE } from './records.ts';

/**
 * Adds bytes to a user's usage. Exact under concurrency: concurrent uploads never exceed the quota.
 * @returns false, with nothing added, when the quota is exceeded.
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
  // The user's first file, unless a concurrent one was first; then the quota decides again.
  if (await usage.insert({ id: userId, bytes })) return true;
  return (await usage.add(userId, { bytes }, room)) !== undefined;
}

export async function giveRoomBack(store: Store, userId: string, bytes: number): Promise<void> {
  await store.collection(FILE_USAGE).add(userId, { bytes: -bytes });
}
