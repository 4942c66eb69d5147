import { StorageUnavailable } from '@questline/core/ports';

/**
 * Classes of https://www.postgresql.org/docs/current/errcodes-appendix.html for an unavailable server:
 * connection, resources, operator intervention (shutdown, cancelled statement), system.
 */
const UNAVAILABLE_CLASSES = new Set(['08', '53', '57', '58']);
/** A read-only standby after a failover, idle in transaction for too long. */
const UNAVAILABLE_CODES = new Set(['25006', '25P03']);
/** Serialization failure, deadlock. */
const CONFLICTS = new Set(['40001', '40P01']);

/** An error of the server. Errors of the driver, the socket and the pool have no severity. */
function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('severity' in error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

export function isConflict(error: unknown): boolean {
  return CONFLICTS.has(sqlState(error) ?? '');
}

/** Converts errors of an unavailable engine to `StorageUnavailable`; returns other errors unchanged. */
export function toStorageError(error: unknown): unknown {
  const state = sqlState(error);
  const isUnavailable =
    state === undefined
      ? !(error instanceof StorageUnavailable || error instanceof TypeError || error instanceof RangeError)
      : UNAVAILABLE_CLASSES.has(state.slice(0, 2)) || UNAVAILABLE_CODES.has(state);
  return isUnavailable
    ? new StorageUnavailable('PostgreSQL cannot do its work now', { cause: error })
    : error;
}
