import * as z from 'zod';
import { text } from '../http/text.ts';
import { defineOperation } from '../operation.ts';
import { ADMIN_SETTING_NAMES } from './admin.ts';

const theme = z.string().meta({ description: "The workspace's usual one until it is chosen." });

const settings = z.object({
  theme,
  language: z.string(),
  notifications: z.object({ email: z.boolean(), slack: z.boolean() }),
});

export type WireSettings = z.input<typeof settings>;

const adminSetting = z.object({
  settingName: z.enum(ADMIN_SETTING_NAMES),
  settingValue: z.union([z.string(), z.number(), z.boolean(), z.null()]),
});

const common = {
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application' },
  family: 'application',
} as const;

const asAdmin = {
  ...common,
  owner: 'admin',
  refusals: [{ status: 403, description: 'The caller is no administrator.' }],
} as const;

export const fetchSettings = defineOperation({
  ...common,
  id: 'fetchSettings',
  method: 'GET',
  path: '/api/settings/fetch',
  summary: "The caller's own settings",
  owner: 'caller',
  input: {},
  output: { 200: { description: 'They.', schema: settings } },
});

export const updateOwnSettings = defineOperation({
  ...common,
  id: 'updateOwnSettings',
  method: 'PUT',
  path: '/api/settings/own',
  summary: "Change what is named of the caller's own settings",
  owner: 'caller',
  input: {
    body: z.object({
      theme: text({ min: 1, max: 50 }).optional(),
      language: text({ min: 1, max: 50 }).optional(),
      notifications: z.object({ email: z.boolean().optional(), slack: z.boolean().optional() }).optional(),
    }),
  },
  output: { 200: { description: 'The settings as they are now.', schema: settings } },
});

export const listAdminSettings = defineOperation({
  ...asAdmin,
  id: 'listAdminSettings',
  method: 'GET',
  path: '/api/settings',
  summary: 'Every setting of the workspace',
  input: {},
  output: { 200: { description: 'They.', schema: z.object({ settings: z.array(adminSetting) }) } },
});

export const updateAdminSetting = defineOperation({
  ...asAdmin,
  id: 'updateAdminSetting',
  method: 'PUT',
  path: '/api/settings/update',
  summary: 'Change one setting of the workspace',
  input: {
    body: z.object({
      key: z.enum(ADMIN_SETTING_NAMES),
      value: z
        .unknown()
        .refine((value) => value !== undefined, 'expected a value')
        .meta({ description: 'Of the type of the setting.' }),
    }),
  },
  output: { 200: { description: 'The setting as it is now.', schema: adminSetting } },
});

export const readServerSettings = defineOperation({
  id: 'readServerSettings',
  method: 'GET',
  path: '/api/settings/serverConfigPublic',
  summary: 'What somebody who is not signed in needs to know',
  auth: 'none',
  scopes: [],
  rate: { key: 'unlimited', user: 'unlimited' },
  owner: 'none',
  family: 'application',
  input: {},
  output: {
    200: {
      description: 'It.',
      schema: z.object({ allowOpenRegistration: z.boolean(), defaultTheme: z.string() }),
    },
  },
});
