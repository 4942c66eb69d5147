import { ORGANIZATIONS, type OrganizationRecord } from '@questline/core/internal';
import { adminToken } from './sign-in.ts';
import { NOW, type TestApp } from './test-app.ts';
import type { Asked } from './wire.ts';

/** Adds an organization to the store, owned by the app's user by default. */
export async function addOrganization(
  { services, user }: Pick<TestApp, 'services' | 'user'>,
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

/** A request of the app's user as an administrator. */
export const asAdmin =
  (asked: Partial<Asked> = {}) =>
  async (app: TestApp): Promise<Partial<Asked>> => ({
    ...asked,
    headers: { Authorization: `Bearer ${await adminToken(app)}` },
  });
