import { useApp } from '../context.ts';
import { useLoad } from '../hooks.ts';
import type { ApiKey, Budget, CursorPage, Organization, Project } from '../records.ts';

export interface Choice {
  readonly id: string;
  readonly name: string;
}

/** What a user can limit, by scope. */
export interface BudgetScopes {
  readonly key: readonly Choice[];
  readonly project: readonly Choice[];
  /** Those that the user owns; administrators see all. */
  readonly organization: readonly Choice[];
}

const NONE: BudgetScopes = { key: [], project: [], organization: [] };

export const UNITS: Readonly<Record<string, string>> = {
  credits: 'Credits',
  tokens: 'Tokens',
  requests: 'Requests',
  concurrent: 'Requests at the same time',
};

/** Loads the keys, projects and organizations that a user can limit. Those that the API leaves out are empty. */
export function useScopes(): BudgetScopes {
  const { user } = useApp();
  const { data } = useLoad('budget scopes', async (get): Promise<BudgetScopes> => {
    const [keys, projects, organizations] = await Promise.all([
      get<{ apiKeys: readonly ApiKey[] }>('/api/user-api-keys?limit=100').catch(() => undefined),
      get<CursorPage<Project>>('/api/v1/projects?limit=100').catch(() => undefined),
      get<{ organizations: readonly Organization[] }>('/api/organizations?limit=100').catch(() => undefined),
    ]);
    return {
      key: keys?.apiKeys.filter(({ status }) => status === 'active') ?? [],
      project: projects?.data.filter(({ owner_id }) => owner_id === user?._id) ?? [],
      organization: (organizations?.organizations ?? [])
        .filter(({ ownerId }) => user?.isAdmin || ownerId === user?._id)
        .map(({ _id: id, name }) => ({ id, name })),
    };
  });
  return data ?? NONE;
}

/** Names whose calls a budget counts. */
export function getScopeName(
  { scope, scopeId }: Budget,
  scopes: BudgetScopes,
  userId: string | undefined,
): string {
  if (scope === 'everyone') return 'Everyone';
  if (scope === 'user') return scopeId === userId ? 'You' : `User ${scopeId}`;
  const name = scopes[scope].find(({ id }) => id === scopeId)?.name ?? scopeId;
  const kind = { key: 'API key', project: 'Project', organization: 'Organization' }[scope];
  return `${kind} ${name}`;
}
