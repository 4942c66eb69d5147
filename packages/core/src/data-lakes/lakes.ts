import type { Ids } from '../ports/ids.ts';
import type { WireLake } from './contract.ts';
import type { LakeRecord } from './records.ts';

const LONGEST_SLUG = 64;
const SUFFIX_LENGTH = 6;

/** What an address may name it by: the name's letters and digits. */
export function slugOf(name: string): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, LONGEST_SLUG);
  return plain === '' ? 'lake' : plain;
}

/** Another one, for a name that has been used before. */
export function anotherSlug(slug: string, ids: Ids): string {
  const room = LONGEST_SLUG - SUFFIX_LENGTH - 1;
  return `${slug.slice(0, room)}-${ids.secret(SUFFIX_LENGTH).toLowerCase()}`;
}

/** A tag that every passage of the lake has. */
export function tagOf({ slug }: LakeRecord): string {
  return `datalake:${slug}`;
}

export function toWireLake(lake: LakeRecord): WireLake {
  return {
    id: lake.id,
    name: lake.name,
    slug: lake.slug,
    datalake_tag: tagOf(lake),
    description: lake.description ?? null,
    organization_id: lake.organizationId ?? null,
    is_public: lake.isPublic,
    built_in: false,
    status: lake.status,
    file_count: lake.fileCount,
    total_size_bytes: lake.totalSize,
    last_sync_at: lake.lastSyncAt === undefined ? null : new Date(lake.lastSyncAt).toISOString(),
    created_at: new Date(lake.createdAt).toISOString(),
    updated_at: new Date(lake.updatedAt).toISOString(),
  };
}
