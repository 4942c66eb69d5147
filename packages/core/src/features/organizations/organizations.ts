import type { Ids } from '../../ports/ids.ts';
import type { WireOrganization } from './contract.ts';
import type { OrganizationRecord } from './records.ts';

const MAX_SLUG = 50;
const SUFFIX_LENGTH = 6;

/** Builds the slug: the name's letters and digits. */
export function toSlug(name: string): string {
  const plain = name
    .normalize('NFKD')
    // ß becomes two letters as a capital; the capital ẞ only does so from its small letter.
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, ' ')
    .trim()
    .slice(0, MAX_SLUG)
    .trim();
  return plain === '' ? 'organization' : plain.replaceAll(' ', '-');
}

/** Builds another slug when the name's own is in use. */
export function anotherSlug(slug: string, ids: Ids): string {
  return `${slug}-${ids.secret(SUFFIX_LENGTH).toLowerCase()}`;
}

/** All members, the owner first. */
export function getMembers({ ownerId, readerIds = [], writerIds = [] }: OrganizationRecord): string[] {
  return [...new Set([ownerId, ...writerIds, ...readerIds])];
}

export function toWireOrganization(organization: OrganizationRecord): WireOrganization {
  return {
    _id: organization.id,
    ownerId: organization.ownerId,
    name: organization.name,
    slug: organization.slug,
    subscriptionTier: organization.subscriptionTier,
    subscriptionStatus: organization.subscriptionStatus,
    memberCount: getMembers(organization).length,
    description: organization.description,
    models: organization.models ? [...organization.models] : null,
  };
}
