import type { Ids } from '../ports/ids.ts';
import type { WireOrganization } from './contract.ts';
import type { OrganizationRecord } from './records.ts';

const LONGEST_SLUG = 50;
const SUFFIX_LENGTH = 6;

/** What an address may name it by: the name's letters and digits. */
export function slugOf(name: string): string {
  const plain = name
    .normalize('NFKD')
    // Of ß there is no single capital: it comes back as two letters.
    .toUpperCase()
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, ' ')
    .trim()
    .slice(0, LONGEST_SLUG)
    .trim();
  return plain === '' ? 'organization' : plain.replaceAll(' ', '-');
}

/** Another one, for a name that has been used before. */
export function anotherSlug(slug: string, ids: Ids): string {
  return `${slug}-${ids.secret(SUFFIX_LENGTH).toLowerCase()}`;
}

/** Everybody who belongs to it, the owner first. */
export function membersOf({ ownerId, readerIds = [], writerIds = [] }: OrganizationRecord): string[] {
  return [...new Set([ownerId, ...writerIds, ...readerIds])];
}

export function toWireOrganization(organization: OrganizationRecord): WireOrganization {
  return {
    _id: organization.id,
    name: organization.name,
    slug: organization.slug,
    subscriptionTier: organization.subscriptionTier,
    subscriptionStatus: organization.subscriptionStatus,
    memberCount: membersOf(organization).length,
    description: organization.description,
  };
}
