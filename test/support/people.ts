import { ORGANIZATIONS, type OrganizationRecord } from '@questline/core';
import { adminToken } from './sign-in.ts';
import type { Asked } from './wire.ts';
import { NOW, type World } from './world.ts';

/** Puts an organization into the store: the world's user owns it, unless somebody else does. */
export async function addOrganization(
  { services, user }: Pick<World, 'services' | 'user'>,
  change: Partial<OrganizationRecord> = {},
): Promise<OrganizationRecord> {
  const id = services.ids.next();
  const organization: OrganizationRecord = {
    id,
    ownerId: user.id,
    name: 'Analytical Engines',
    slug: `engines-${id}`,
    description: null,
    subscriptionTier: 'free',
    subscriptionStatus: 'trial',
    createdAt: NOW,
    ...change,
  };
  await services.store.collection(ORGANIZATIONS).insert(organization);
  return organization;
}

/** The world's user asks as an administrator. */
export const asAdmin =
  (asked: Partial<Asked> = {}) =>
  async (world: World): Promise<Partial<Asked>> => ({
    ...asked,
    headers: { Authorization: `Bearer ${await adminToken(world)}` },
  });
