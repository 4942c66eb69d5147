import * as z from 'zod';
import { DEFAULT_LANGUAGE, type UserRecord } from '../../identity/records.ts';
import type { Visibility } from './visibility.ts';

/** The caller's own user in the application API. */
export const wireUser = z.object({
  _id: z.string().describe('The id of the user.'),
  username: z.string().describe('The name of the user.'),
  email: z.string().describe('The e-mail address of the user.'),
  firstName: z.string().nullable().describe('The first name; null without one.'),
  lastName: z.string().nullable().describe('The last name; null without one.'),
  organizationId: z
    .string()
    .nullable()
    .describe('The id of the organization that the user belongs to; null without an organization.'),
  isAdmin: z.boolean().describe('Whether the user is an administrator of the workspace.'),
  preferences: z
    .object({
      theme: z.string().optional().describe('The theme of the user interface.'),
      language: z.string().optional().describe('The language of the user interface, as a language tag.'),
    })
    .describe('Settings of the user interface.'),
});

export type WireUser = z.input<typeof wireUser>;

/** Another user in the application API. */
export const visibleUser = wireUser.extend({
  disabled: z
    .boolean()
    .optional()
    .meta({ description: 'For administrators: true for a disabled account, else absent.' }),
  email: z
    .string()
    .optional()
    .meta({ description: "Only the caller's own address, or any for administrators." }),
});

export type SeenUser = z.input<typeof visibleUser>;

export function toWireUser(user: UserRecord, defaultTheme: string): WireUser {
  const { theme = defaultTheme, language = DEFAULT_LANGUAGE } = user.preferences;
  return {
    _id: user.id,
    username: user.username,
    email: user.email,
    firstName: user.firstName,
    lastName: user.lastName,
    organizationId: user.organizationId,
    isAdmin: user.isAdmin,
    preferences: { theme, language },
  };
}

/** For others: only identifying fields, and the organization if the caller belongs to it. */
export function toSeenUser(
  user: UserRecord,
  { userId, seesAll, organizationIds }: Visibility,
  defaultTheme: string,
): SeenUser {
  const whole = toWireUser(user, defaultTheme);
  if (seesAll && user.disabled) return { ...whole, disabled: true };
  if (seesAll || user.id === userId) return whole;
  const { email: _, ...seen } = whole;
  const isShared = user.organizationId !== null && organizationIds.has(user.organizationId);
  return { ...seen, organizationId: isShared ? user.organizationId : null, preferences: {} };
}
