import { AGENTS } from './agents/records.ts';
import { ANALYTICS_EVENTS } from './analytics/records.ts';
import { ARTIFACT_VERSIONS, ARTIFACTS } from './artifacts/records.ts';
import { LAKE_FILES, LAKES } from './data-lakes/records.ts';
import { JOBS } from './engine/store-queue.ts';
import { ENRICHMENT_PLACES } from './enrichment/records.ts';
import { EXECUTION_PLACES, STEPS } from './executions/records.ts';
import { FILE_USAGE, FILES } from './files/records.ts';
import { GENERATIONS } from './generations/records.ts';
import { IDEMPOTENCY } from './idempotency.ts';
import { API_KEYS, USERS } from './identity/records.ts';
import { MEMENTOS } from './mementos/records.ts';
import { ORGANIZATIONS } from './organizations/records.ts';
import type { CollectionShape } from './ports/store.ts';
import { PROJECTS } from './projects/records.ts';
import { PROVIDER_KEYS } from './provider-keys/records.ts';
import { QUESTS } from './quests/records.ts';
import { REGISTRATION_INVITES } from './registration-invites/records.ts';
import { MESSAGES, SESSIONS } from './sessions/records.ts';
import { ADMIN_SETTINGS } from './settings/admin.ts';
import { SHARING_INVITES } from './sharing/records.ts';
import { CHALLENGES } from './sign-in/challenges.ts';
import { FOUNDERS } from './sign-in/registration.ts';
import { SUBSCRIPTIONS } from './subscriptions/records.ts';
import { TRANSCRIPTION_UPLOADS } from './transcriptions/records.ts';

/** Every collection there is, for engines that make tables of them. */
export const COLLECTIONS: readonly CollectionShape[] = [
  USERS,
  API_KEYS,
  PROVIDER_KEYS,
  SHARING_INVITES,
  CHALLENGES,
  REGISTRATION_INVITES,
  FOUNDERS,
  ADMIN_SETTINGS,
  ORGANIZATIONS,
  SUBSCRIPTIONS,
  ANALYTICS_EVENTS,
  SESSIONS,
  TRANSCRIPTION_UPLOADS,
  MESSAGES,
  QUESTS,
  STEPS,
  EXECUTION_PLACES,
  GENERATIONS,
  AGENTS,
  PROJECTS,
  FILES,
  FILE_USAGE,
  LAKES,
  LAKE_FILES,
  MEMENTOS,
  ENRICHMENT_PLACES,
  ARTIFACTS,
  ARTIFACT_VERSIONS,
  JOBS,
  IDEMPOTENCY,
];
