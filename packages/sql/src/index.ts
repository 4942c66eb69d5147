export type { PostgresDatabase, SqlDatabase, SqliteDatabase } from './database.ts';
export { createSqlEventLog } from './event-log.ts';
export { createSqlLedger, type SqlLedgerOptions } from './ledger.ts';
export { createSqlLimiter, type SqlLimiter, type SqlLimiterOptions } from './limiter.ts';
export { type MigrateOptions, type MigrationReport, migrate } from './migrations/migrate.ts';
export { createSqlPorts, type SqlPorts, type SqlPortsOptions } from './ports.ts';
export type { PostgresConnection, PostgresPool } from './postgres/client.ts';
export { createPostgresDatabase, type PostgresOptions } from './postgres/database.ts';
export type { ReplicaState } from './postgres/replica-gate.ts';
export type { PostgresReplica } from './postgres/replicas.ts';
export { createSqlQueue, type SqlQueueOptions } from './queue.ts';
export { SHARD_COLLECTIONS } from './shards/collections.ts';
export {
  createShardDirectory,
  type FormerShard,
  SHARD_PLACEMENTS,
  type ShardDirectory,
  type ShardDirectoryOptions,
  type ShardPlacementRecord,
} from './shards/directory.ts';
export { type MoveOutcome, type MoveOwnerOptions, moveOwner } from './shards/move-owner.ts';
export type { MovePhase } from './shards/moves.ts';
export type { ShardPorts } from './shards/nodes.ts';
export type { Placement } from './shards/placement.ts';
export { type ShardOptions, shard } from './shards/shard.ts';
export { createSqliteDatabase, type SqliteOptions } from './sqlite/database.ts';
export { createSqlStore } from './store.ts';
export { createSqlVectors, type SqlVectorsOptions } from './vectors.ts';
