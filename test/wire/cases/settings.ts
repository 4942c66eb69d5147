import { expect } from 'vitest';
import { createScriptedProvider } from '../../support/model.ts';
import { asAdmin } from '../../support/people.ts';
import { faulted, refused, type WireCase } from './case.ts';

const DEFAULTS = { theme: 'system', language: 'en', notifications: { email: true, slack: false } };
const FORBIDDEN = refused('application', { status: 403, message: 'Administrators only' });

export const fetchSettings: readonly WireCase[] = [
  { title: 'returns the defaults at first', status: 200, body: DEFAULTS, everywhere: true },
  {
    title: 'returns changed settings',
    ask: async (app) => {
      const credential = await app.token();
      for (const body of [{ theme: 'dark' }, { notifications: { email: false } }, { language: 'de' }]) {
        await app.ask('PUT', '/api/settings/own', { credential, body });
      }
      return {};
    },
    headers: { 'x-ratelimit-remaining': '996' },
    status: 200,
    body: { theme: 'dark', language: 'de', notifications: { email: false, slack: false } },
  },
  {
    title: 'returns the theme of the workspace',
    app: () => ({ settings: { defaultTheme: 'sepia' } }),
    status: 200,
    body: { ...DEFAULTS, theme: 'sepia' },
  },
];

export const updateOwnSettings: readonly WireCase[] = [
  {
    title: 'changes only the named fields',
    ask: {
      body: {
        theme: 'dark',
        notifications: { email: false, sms: true },
        isAdmin: true,
        userId: 'f'.repeat(24),
        preferences: { x: 'y' },
        tokenVersion: 7,
      },
    },
    status: 200,
    body: { ...DEFAULTS, theme: 'dark', notifications: { email: false, slack: false } },
    everywhere: true,
  },
  {
    title: 'rejects an invalid boolean',
    ask: { body: { notifications: { email: 'yes' } } },
    ...faulted('notifications.email', 'expected boolean, got 3 characters of text'),
  },
  {
    title: 'accepts its own answer',
    ask: { body: DEFAULTS },
    status: 200,
    body: DEFAULTS,
  },
  {
    title: 'rejects a notification type that is not implemented',
    ask: { body: { notifications: { slack: true } } },
    ...faulted('notifications.slack', 'nothing sends to Slack, got true'),
  },
  {
    title: 'rejects a theme without a name',
    ask: { body: { theme: '' } },
    ...faulted('theme', 'expected at least 1 character, got 0 characters of text'),
  },
];

const ALL = {
  DefaultAPIModel: null,
  DefaultImageModel: null,
  enforceCredits: true,
  allowOpenRegistration: false,
  defaultFreeCredits: 0,
  MaxFileSize: 31_457_280,
  MaxAgentsPerUser: 100,
  EnableDataLakes: false,
  EnableArtifacts: true,
  EnableAgents: true,
  AgentPublishing: 'approval',
};

export const listAdminSettings: readonly WireCase[] = [
  {
    title: 'returns every setting',
    ask: asAdmin(),
    status: 200,
    body: {
      settings: Object.entries(ALL).map(([settingName, settingValue]) => ({ settingName, settingValue })),
    },
  },
  { title: 'rejects a user who is not an administrator', ...FORBIDDEN },
];

const changed = (key: string, value: unknown): WireCase => ({
  title: `sets ${key} to ${value}`,
  ask: asAdmin({ body: { key, value } }),
  status: 200,
  body: { settingName: key, settingValue: value },
});

const wrong = (key: string, value: unknown, message: string): WireCase => ({
  title: `rejects ${key} as ${JSON.stringify(value)?.slice(0, 40)}`,
  ask: asAdmin({ body: { key, value } }),
  ...faulted('value', message),
});

export const updateAdminSetting: readonly WireCase[] = [
  { ...changed('allowOpenRegistration', true), everywhere: true },
  { ...changed('DefaultAPIModel', 'scripted'), app: () => ({ models: [createScriptedProvider()] }) },
  wrong('DefaultAPIModel', 'unknown', "there is no chat model 'unknown'"),
  changed('DefaultImageModel', null),
  changed('defaultFreeCredits', 12.5),
  {
    title: 'applies to the next call',
    ask: async (app) => {
      const ask = await asAdmin()(app);
      const body = { key: 'EnableDataLakes', value: true };
      await app.ask('PUT', '/api/settings/update', { credential: await app.token(), body });
      const [before] = await Promise.all([app.services.adminSettings.current()]);
      if (!before.EnableDataLakes) throw new Error('the change has no effect');
      return { ...ask, body: { key: 'EnableDataLakes', value: false } };
    },
    headers: { 'x-ratelimit-remaining': '998' },
    status: 200,
    body: { settingName: 'EnableDataLakes', settingValue: false },
  },
  wrong('enforceCredits', 'no', 'expected boolean, got 2 characters of text'),
  wrong('MaxFileSize', 0, 'Too small: expected number to be >=1, got 0'),
  wrong('MaxAgentsPerUser', 1.5, 'expected int, got 1.5'),
  wrong(
    'AgentPublishing',
    'closed',
    'Invalid option: expected one of "approval"|"open", got 6 characters of text',
  ),
  wrong('EnableAgents', null, 'expected boolean, got null'),
  {
    title: 'rejects an unknown setting',
    ask: asAdmin({ body: { key: 'isAdmin', value: true } }),
    status: 422,
    body: {
      error: {
        code: 'VALIDATION_ERROR',
        message: expect.stringMatching(/^key: /),
        details: [
          { path: 'key', message: expect.stringMatching(/DefaultAPIModel.*got 7 characters of text$/) },
        ],
      },
      timestamp: expect.any(String),
      request_id: 'wire-1',
    },
  },
  {
    title: 'rejects an empty change',
    ask: asAdmin({ body: { key: 'EnableAgents' } }),
    ...faulted('value', 'is required'),
  },
  {
    title: 'rejects a user who is not an administrator',
    ask: { body: { key: 'EnableAgents', value: false } },
    ...FORBIDDEN,
  },
];

export const readServerSettings: readonly WireCase[] = [
  {
    title: 'returns the public settings to every caller',
    status: 200,
    body: { allowOpenRegistration: false, defaultTheme: 'system' },
    everywhere: true,
  },
];
