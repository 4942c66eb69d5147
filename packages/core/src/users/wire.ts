import * as z from 'zod';
import type { UserRecord } from '../identity/records.ts';
import type { Sight } from './visibility.ts';

/** A user as the application API shows one to themselves. */
export const wireUser = z.object({
  _id: z.string(),
  username: z.string(),
  email: z.string(),
  firstName: z.string().nullable(),
  lastName: z.string().nullable(),
  organizationId: z.string().nullable(),
  isAdmin: z.boolean(),
  preferences: z.object({ theme: z.string().optional(), language: z.string().optional() }),
});

export type WireUser = z.input<typeof wireUser>;

/** A user as others see one. */
export const seenUser = wireUser.extend({
  email: z.string().optional().meta({ description: "The caller's own, and any for administrators." }),
});

export type SeenUser = z.input<typeof seenUser>;

export function toWireUser(user: UserRecord): WireUser {
  const { theme, language } = user.preferences;
  return {
    _id: user.id,
    username: user.username,
    email: user.email,
    firstName: user.firstName,
    lastName: user.lastName,
    organizationId: user.organizationId,
    isAdmin: user.isAdmin,
    preferences: { ...(theme !== undefined && { theme }), ...(language !== undefined && { language }) },
  };
}

/** Of others: what identifies them, and the organization only where it is one of the caller's own. */
export function toSeenUser(user: UserRecord, { userId, seesAll, organizationIds }: Sight): SeenUser {
  const whole = toWireUser(user);
  if (seesAll || user.id === userId) return whole;
  const { email: _, ...seen } = whole;
  const isShared = user.organizationId !== null && organizationIds.has(user.organizationId);
  return { ...seen, organizationId: isShared ? user.organizationId : null, preferences: {} };
}
