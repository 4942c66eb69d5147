import { BUDGET_NOTICES, EVENT_OUTBOX, LOW_CREDITS } from '../events/records.ts';
import { API_KEYS, USERS } from '../identity/records.ts';
import { JOBS } from '../jobs/store-queue.ts';
import { TASK_TURNS } from '../jobs/task-turns.ts';
import { REJECTED_USAGE } from '../models/usage-records.ts';
import { IDEMPOTENCY } from '../operations/idempotency-records.ts';
import type { CollectionShape } from '../ports/store.ts';
import { QUESTS } from '../runs/records.ts';
import { EVENT_BATCHES } from '../runs/store-event-log.ts';
import { QUEST_TEXTS } from '../runs/text-pieces.ts';
import { FEATURES } from './features.ts';

/** All collections, for engines that create tables. */
export const COLLECTIONS: readonly CollectionShape[] = [
  USERS,
  API_KEYS,
  ...FEATURES.flatMap(({ collections = [] }) => collections),
  QUESTS,
  QUEST_TEXTS,
  JOBS,
  TASK_TURNS,
  EVENT_BATCHES,
  IDEMPOTENCY,
  REJECTED_USAGE,
  EVENT_OUTBOX,
  LOW_CREDITS,
  BUDGET_NOTICES,
];
