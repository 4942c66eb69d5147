import type { Services } from '@questline/core';

/** An API key, its user, an administrator, or the key of another user that writes. */
type Asker = 'key' | 'user' | 'admin' | 'writer';

export type Ask = (
  method: string,
  path: string,
  as: Asker,
  body?: unknown,
) => Promise<Record<string, unknown>>;

export interface Context {
  readonly ask: Ask;
  readonly things: { readonly quest: string; readonly session: string; readonly user: string };
  readonly services: Services;
}

export interface MeasuredOperation {
  readonly name: string;
  run(context: Context): Promise<unknown>;
}

const get = (name: string, path: string, as: Asker = 'key'): MeasuredOperation => ({
  name,
  run: ({ ask, things }) =>
    ask(
      'GET',
      path
        .replace('{quest}', things.quest)
        .replace('{session}', things.session)
        .replace('{user}', things.user),
      as,
    ),
});

export const OPERATIONS: readonly MeasuredOperation[] = [
  {
    name: 'completion',
    run: ({ ask }) =>
      ask('POST', '/api/ai/v1/completions', 'writer', {
        model: 'scripted',
        messages: [{ role: 'user', content: 'Hi' }],
      }),
  },
  { name: 'chat, with its turn', run: ({ ask }) => ask('POST', '/api/chat', 'writer', { message: 'Hi' }) },
  get('poll', '/api/v1/quests/{quest}'),
  { name: 'create a session', run: ({ ask }) => ask('POST', '/api/v1/sessions', 'writer', { name: 'New' }) },
  get('sessions', '/api/v1/sessions?limit=20'),
  get('sessions, searched', '/api/v1/sessions?search=mine'),
  get('messages', '/api/v1/sessions/{session}/messages'),
  get('files', '/api/v1/files'),
  get('projects', '/api/v1/projects'),
  get('agents', '/api/v1/agents'),
  get('agents of the application', '/api/agents', 'user'),
  get('data lakes', '/api/v1/data-lakes'),
  {
    name: 'words of a lake of one chunk',
    run: ({ services }) =>
      services.vectors.matching({
        scope: { lakeIds: ['own lake'] },
        ...{ words: ['do', 'hedgehogs', 'sleep', 'where'], vector: [1, 0, 0], limit: 10 },
      }),
  },
  get('models', '/api/v1/models'),
  get('profile', '/api/v1/me'),
  get('balance', '/api/v1/credits'),
  get('usage', '/api/v1/usage'),
  get('usage report of the key', '/api/v1/usage/report'),
  get('API keys', '/api/user-api-keys', 'user'),
  get('users, page 1', '/api/users?limit=10', 'admin'),
  get('users, page 50', '/api/users?limit=10&page=50', 'admin'),
  get('users by name', '/api/users?sort=username&order=asc', 'admin'),
  get('users, searched', '/api/users?search=root', 'admin'),
  get('a user', '/api/users/{user}', 'admin'),
  get('organizations, page 1', '/api/organizations', 'admin'),
  get('organizations, searched', '/api/organizations?search=unlisted', 'admin'),
  get('organizations of a user', '/api/organizations', 'user'),
  get('subscriptions', '/api/subscriptions', 'admin'),
  get('subscriptions, searched', '/api/subscriptions?search=unlisted', 'admin'),
  get('audit log', '/api/audit', 'admin'),
];
