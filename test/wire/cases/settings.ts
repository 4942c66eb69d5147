import { expect } from 'vitest';
import { asAdmin } from '../../support/people.ts';
import { faulted, refused, type WireCase } from './case.ts';

const USUAL = { theme: 'system', language: 'en', notifications: { email: true, slack: false } };
const FORBIDDEN = refused('application', { status: 403, message: 'Administrators only' });

export const fetchSettings: readonly WireCase[] = [
  { title: 'shows the usual ones at first', status: 200, body: USUAL, everywhere: true },
  {
    title: 'shows what was changed',
    ask: async (world) => {
      const credential = await world.token();
      for (const body of [{ theme: 'dark' }, { notifications: { slack: true } }, { language: 'de' }]) {
        await world.ask('PUT', '/api/settings/own', { credential, body });
      }
      return {};
    },
    headers: { 'x-ratelimit-remaining': '996' },
    status: 200,
    body: { theme: 'dark', language: 'de', notifications: { email: true, slack: true } },
  },
  {
    title: "shows the workspace's own theme",
    world: () => ({ settings: { defaultTheme: 'sepia' } }),
    status: 200,
    body: { ...USUAL, theme: 'sepia' },
  },
];

export const updateOwnSettings: readonly WireCase[] = [
  {
    title: 'changes what is named, and nothing else',
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
    body: { ...USUAL, theme: 'dark', notifications: { email: false, slack: false } },
    everywhere: true,
  },
  {
    title: 'a switch that is none',
    ask: { body: { notifications: { email: 'yes' } } },
    ...faulted(
      'notifications.email',
      'Invalid input: expected boolean, received string, got 3 characters of text',
    ),
  },
  {
    title: 'a theme without a name',
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
};

export const listAdminSettings: readonly WireCase[] = [
  {
    title: 'shows every one',
    ask: asAdmin(),
    status: 200,
    body: {
      settings: Object.entries(ALL).map(([settingName, settingValue]) => ({ settingName, settingValue })),
    },
  },
  { title: 'somebody else', ...FORBIDDEN },
];

const changed = (key: string, value: unknown): WireCase => ({
  title: `sets ${key} to ${value}`,
  ask: asAdmin({ body: { key, value } }),
  status: 200,
  body: { settingName: key, settingValue: value },
});

const wrong = (key: string, value: unknown, message: string): WireCase => ({
  title: `${key} as ${JSON.stringify(value)?.slice(0, 40)}`,
  ask: asAdmin({ body: { key, value } }),
  ...faulted('value', message),
});

export const updateAdminSetting: readonly WireCase[] = [
  { ...changed('allowOpenRegistration', true), everywhere: true },
  changed('DefaultAPIModel', 'scripted'),
  changed('DefaultImageModel', null),
  changed('defaultFreeCredits', 12.5),
  {
    title: 'is seen at once by the next call',
    ask: async (world) => {
      const ask = await asAdmin()(world);
      const body = { key: 'EnableDataLakes', value: true };
      await world.ask('PUT', '/api/settings/update', { credential: await world.token(), body });
      const [before] = await Promise.all([world.services.switches.current()]);
      if (!before.EnableDataLakes) throw new Error('the change is not seen');
      return { ...ask, body: { key: 'EnableDataLakes', value: false } };
    },
    headers: { 'x-ratelimit-remaining': '998' },
    status: 200,
    body: { settingName: 'EnableDataLakes', settingValue: false },
  },
  wrong('enforceCredits', 'no', 'Invalid input: expected boolean, received string, got 2 characters of text'),
  wrong('MaxFileSize', 0, 'Too small: expected number to be >=1, got 0'),
  wrong('MaxAgentsPerUser', 1.5, 'Invalid input: expected int, received number, got 1.5'),
  wrong('EnableAgents', null, 'Invalid input: expected boolean, received null, got null'),
  {
    title: 'an unknown one',
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
    title: 'nothing',
    ask: asAdmin({ body: { key: 'EnableAgents' } }),
    ...faulted('value', 'expected a value'),
  },
  { title: 'somebody else', ask: { body: { key: 'EnableAgents', value: false } }, ...FORBIDDEN },
];

export const readServerSettings: readonly WireCase[] = [
  {
    title: 'tells anybody what they need to know',
    status: 200,
    body: { allowOpenRegistration: false, defaultTheme: 'system' },
    everywhere: true,
  },
];
