import * as z from 'zod';
import { defineOperation } from '../../contract/operation.ts';
import { text } from '../../contract/text.ts';
import { ADMIN_SETTING_NAMES } from '../../operations/admin-settings.ts';

const theme = z.string().meta({ description: "Default: the workspace's default theme." });

const settings = z.object({
  theme,
  language: z.string().describe('The language of the user interface, as a language tag.'),
  notifications: z
    .object({
      email: z.boolean().describe('Notifications by e-mail.'),
      slack: z.boolean().describe('Notifications by Slack.'),
    })
    .describe('Which notifications the user gets.'),
});

export type WireSettings = z.input<typeof settings>;

const adminSetting = z.object({
  settingName: z.enum(ADMIN_SETTING_NAMES).describe('The name of the setting.'),
  settingValue: z
    .union([z.string(), z.number(), z.boolean(), z.null()])
    .describe('The value of the setting; its type depends on the setting.'),
});

const common = {
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application' },
  family: 'application',
  tag: 'Settings',
} as const;

const asAdmin = {
  ...common,
  owner: 'admin',
  refusals: [{ status: 403, description: 'The caller is not an administrator.' }],
} as const;

export const fetchSettings = defineOperation({
  ...common,
  id: 'fetchSettings',
  method: 'GET',
  path: '/api/settings/fetch',
  summary: "Get the caller's settings",
  description: 'Returns theme, language and notifications of the user.',
  owner: 'caller',
  input: {},
  output: { 200: { description: 'The settings of the caller.', schema: settings } },
});

export const updateOwnSettings = defineOperation({
  ...common,
  id: 'updateOwnSettings',
  method: 'PUT',
  path: '/api/settings/own',
  summary: "Update the given fields of the caller's settings",
  description: 'Fields that are not sent stay as they are.',
  owner: 'caller',
  input: {
    body: z.object({
      theme: text({ min: 1, max: 50 }).optional().describe('The theme of the user interface.'),
      language: text({ min: 1, max: 50 })
        .optional()
        .describe('The language of the user interface, as a language tag.'),
      notifications: z
        .object({
          email: z.boolean().optional().describe('Whether invites are mailed. Sign-in codes always are.'),
          slack: z
            .literal(false, 'nothing sends to Slack')
            .optional()
            .describe('Always false: nothing sends to Slack.'),
        })
        .optional()
        .describe('The notifications to change; others stay.'),
    }),
  },
  output: { 200: { description: 'The updated settings.', schema: settings } },
});

export const listAdminSettings = defineOperation({
  ...asAdmin,
  id: 'listAdminSettings',
  method: 'GET',
  path: '/api/settings',
  summary: 'List every setting of the workspace',
  description: 'For administrators.',
  input: {},
  output: {
    200: {
      description: 'The settings.',
      schema: z.object({ settings: z.array(adminSetting).describe('All settings of the workspace.') }),
    },
  },
});

export const updateAdminSetting = defineOperation({
  ...asAdmin,
  audit: ['setting.changed'],
  id: 'updateAdminSetting',
  method: 'PUT',
  path: '/api/settings/update',
  summary: 'Change one setting of the workspace',
  description: 'For administrators. The setting takes effect within seconds, in every process.',
  input: {
    body: z.object({
      key: z.enum(ADMIN_SETTING_NAMES).describe('The name of the setting.'),
      value: z
        .unknown()
        .refine((value) => value !== undefined, 'expected a value')
        .meta({ description: 'A value of the type of the setting.' }),
    }),
  },
  output: { 200: { description: 'The updated setting.', schema: adminSetting } },
});

export const readServerSettings = defineOperation({
  id: 'readServerSettings',
  method: 'GET',
  path: '/api/settings/serverConfigPublic',
  summary: 'Get the public configuration for clients without a sign-in',
  description: 'What a sign-in page needs before there is a user.',
  auth: 'none',
  scopes: [],
  rate: { key: 'unlimited', user: 'unlimited' },
  owner: 'none',
  family: 'application',
  tag: 'Settings',
  input: {},
  output: {
    200: {
      description: 'The public settings.',
      schema: z.object({
        allowOpenRegistration: z.boolean().describe('Whether users can register without an invite.'),
        defaultTheme: z.string().describe('The theme of users who have not chosen one.'),
      }),
    },
  },
});

export const readServerConfiguration = defineOperation({
  ...readServerSettings,
  id: 'readServerConfiguration',
  path: '/api/settings/serverConfig',
  summary: 'Get where clients find the streaming endpoint',
  output: {
    200: {
      description: 'Empty: it is at its usual path below the address that the client uses.',
      schema: z.object({
        sseCompletionsUrl: z
          .string()
          .optional()
          .meta({ description: 'The whole URL of `POST /api/ai/v1/completions`.' }),
      }),
    },
  },
});
