import type { CollectionShape } from '@questline/core/ports';

/**
 * Where a collection keeps its records. `home`: in the home database. `owner`: with the owner whose id is in `field`.
 * `id`: with the owner whose id is the record's id, up to a colon; in the home database if the rest is in `atHome`.
 * `parent`: with the record of one of the collections `of` whose id is in `field`, or with the owner in `orOwner`. `step`:
 * where the transaction that inserts it writes; in the home database outside of one.
 */
export type Placement =
  | { readonly by: 'home' }
  | { readonly by: 'owner'; readonly field: string }
  | { readonly by: 'id'; readonly atHome?: readonly string[] }
  | {
      readonly by: 'parent';
      readonly field: string;
      readonly of: readonly string[];
      readonly orOwner?: string;
    }
  | { readonly by: 'step' };

const HOME: Placement = { by: 'home' };
const STEP: Placement = { by: 'step' };
const BY_ID: Placement = { by: 'id' };

/** Records that every shard needs, or whose unique values hold for all users. */
const HOME_COLLECTIONS = [
  'users',
  'api_keys',
  'external_ids',
  'token_families',
  'founders',
  'sign_in_challenges',
  'registration_invites',
  'sign_in_guards',
  'device_logins',
  'tool_clients',
  'provider_keys',
  'admin_settings',
  'periodic_tasks',
  'organizations',
  'subscriptions',
  'budgets',
  'webhooks',
  'webhook_deliveries',
  'data_lakes',
  'data_lake_files',
  'rejected_usage',
  'queued_jobs',
  'live_events',
  'shard_placements',
  'shard_exports',
  'shard_moves',
];

/** Collections whose records are shared with other users. */
const SHARED = ['sessions', 'projects', 'files', 'agents', 'artifacts', 'organizations', 'data_lakes'];

/** The collections of Questline whose columns do not show the place. */
const DEFAULT_PLACEMENTS: ReadonlyMap<string, Placement> = new Map<string, Placement>([
  ...HOME_COLLECTIONS.map((name) => [name, HOME] as const),
  ['messages', { by: 'parent', field: 'sessionId', of: ['sessions'], orOwner: 'ownerId' }],
  ['quests', { by: 'parent', field: 'sessionId', of: ['sessions'], orOwner: 'ownerId' }],
  ['quest_texts', { by: 'parent', field: 'questId', of: ['quests'] }],
  ['execution_steps', { by: 'parent', field: 'executionId', of: ['quests'] }],
  ['enrichment_places', { by: 'parent', field: 'id', of: ['sessions'] }],
  ['artifact_versions', { by: 'parent', field: 'artifactId', of: ['artifacts'] }],
  ['responses', { by: 'parent', field: 'id', of: ['quests'], orOwner: 'ownerId' }],
  ['sharing_invites', { by: 'parent', field: 'resourceId', of: SHARED }],
  ['execution_places', BY_ID],
  ['file_usage', BY_ID],
  // Data lakes are in the home database, with the counters that change with them.
  ['storage_usage', { by: 'id', atHome: ['lakes'] }],
]);

/** The given place, that of Questline's collection, or by the columns `ownerId` or `userId`. */
export function getPlacement(
  definition: CollectionShape,
  placements: Readonly<Record<string, Placement>> = {},
): Placement {
  const { name, columns } = definition;
  const known = placements[name] ?? DEFAULT_PLACEMENTS.get(name);
  if (known !== undefined) return known;
  const field = ['ownerId', 'userId'].find((column) => columns[column] === 'text');
  return field === undefined ? STEP : { by: 'owner', field };
}
