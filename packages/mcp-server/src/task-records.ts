import { decodeCursor, encodeCursor, MCP_TASKS, type McpTaskRecord } from '@questline/core/internal';
import { INVALID_PARAMS, type JsonObject, RpcError } from './json-rpc.ts';
import type { ToolCall } from './tools/tool.ts';

export type TaskRecord = McpTaskRecord;

/** The longest and usual life of a task, in milliseconds: 7 days. */
const MAX_TTL_MS = 7 * 24 * 3_600_000;
/** Each task on a page is read, and counts as a request. */
const PAGE = 10;
/** The maximum of expired tasks that a new one deletes. */
const SWEEP_BATCH = 100;

/** The life that a client asks for, at most 7 days. @throws RpcError */
export function readTtl({ ttl }: JsonObject): number {
  if (ttl === undefined || ttl === null) return MAX_TTL_MS;
  if (typeof ttl !== 'number' || !Number.isSafeInteger(ttl) || ttl < 0) {
    throw new RpcError(INVALID_PARAMS, 'task.ttl: expected milliseconds');
  }
  return Math.min(ttl, MAX_TTL_MS);
}

/** The tasks of a caller. They only name work: its state and the access to it are those of its operation. */
export function createTaskRecords({ services, call }: Pick<ToolCall, 'services' | 'call'>) {
  const { store, clock } = services;
  const ownerId = call.caller.userId;
  const records = store.collection(MCP_TASKS);

  const get = async (id: string): Promise<TaskRecord | undefined> => {
    const record = await records.get(id, { ownerId });
    return record !== undefined && record.expiresAt > clock.now() ? record : undefined;
  };

  return {
    get,

    /** Keeps a task. @returns the one that exists, for a repeated call. */
    async add(id: string, ttl: number): Promise<TaskRecord> {
      const now = clock.now();
      const expired = await records.find({ expiresAt: { lte: now } }, { limit: SWEEP_BATCH });
      for (const one of expired) await records.take(one.id);
      const record = { id, ownerId, createdAt: now, expiresAt: now + ttl };
      if (await records.insert(record)) return record;
      return (await get(id)) ?? record;
    },

    /** Lists tasks, newest first. @throws RpcError for a cursor of another list. */
    async list(cursor: unknown): Promise<{ records: readonly TaskRecord[]; nextCursor?: string }> {
      const after = readCursor(cursor, ownerId);
      const found = await records.find(
        { ownerId, expiresAt: { gt: clock.now() } },
        { order: { field: 'createdAt', direction: 'desc' }, limit: PAGE + 1, ...(after && { after }) },
      );
      const page = found.slice(0, PAGE);
      const last = page.at(-1);
      if (found.length <= PAGE || last === undefined) return { records: page };
      const place = { value: last.createdAt, id: last.id };
      return { records: page, nextCursor: encodeCursor(MCP_TASKS.name, ownerId, place) };
    },
  };
}

function readCursor(cursor: unknown, ownerId: string) {
  if (cursor === undefined) return undefined;
  try {
    if (typeof cursor === 'string') return decodeCursor(MCP_TASKS.name, ownerId, cursor);
  } catch {
    // Its error is one of the API.
  }
  throw new RpcError(INVALID_PARAMS, 'cursor: expected a cursor of this list');
}
