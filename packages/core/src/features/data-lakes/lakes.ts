import type { Ids } from '../../ports/ids.ts';
import type { WireLake } from './contract.ts';
import type { LakeRecord } from './records.ts';

const MAX_SLUG = 64;
const SUFFIX_LENGTH = 6;

/** Builds the slug: the name's letters and digits. */
export function toSlug(name: string): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, MAX_SLUG);
  return plain === '' ? 'lake' : plain;
}

/** Builds another slug when the name's own is in use. */
export function anotherSlug(slug: string, ids: Ids): string {
  const room = MAX_SLUG - SUFFIX_LENGTH - 1;
  return `${slug.slice(0, room)}-${ids.secret(SUFFIX_LENGTH).toLowerCase()}`;
}

/** A tag on every passage of the lake. */
export function toTag({ slug }: LakeRecord): string {
  return `datalake:${slug}`;
}

export function toWireLake(lake: LakeRecord): WireLake {
  return {
    id: lake.id,
    name: lake.name,
    slug: lake.slug,
    datalake_tag: toTag(lake),
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
