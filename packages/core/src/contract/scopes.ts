/** All scopes. */
export const SCOPES = [
  'notebooks:read',
  'notebooks:write',
  'files:read',
  'files:write',
  'ai:generate',
  'ai:decide',
  'ai:chat',
  'projects:read',
  'projects:write',
  'agents:read',
  'agents:write',
  'cc-bridge:connect',
  'me:read',
  'admin:*',
  'marketing-reports:read',
  'marketing-reports:write',
  'overwatch-ingest:write',
  'embed:chat',
  'hearth:read',
  'hearth:write',
  'optihashi:read',
  'optihashi:compute',
  'datalake:read',
  'datalake:write',
  'datalake:share',
  'datalake:query',
  'overwatch:read',
  'qa:ingest',
] as const;

/** A permission of an API key, such as `ai:chat`. Access tokens need no scopes. */
export type Scope = (typeof SCOPES)[number];

/** A key with one of these scopes has no other scope, and can call only operations that name it. */
export const CONFINED_SCOPES: readonly Scope[] = [
  'cc-bridge:connect',
  'embed:chat',
  'overwatch-ingest:write',
  'qa:ingest',
];

/** Scopes that a signed-in user can grant to a key: all except `admin:*` and the confined scopes. */
export const OFFERED_SCOPES: readonly Scope[] = SCOPES.filter(
  (scope) => scope !== 'admin:*' && !CONFINED_SCOPES.includes(scope),
);

const readable = OFFERED_SCOPES.filter((scope) => scope.endsWith(':read'));
const writable = OFFERED_SCOPES.filter((scope) => scope.endsWith(':write'));

export const SCOPE_PRESETS = {
  read: readable,
  readwrite: [...readable, ...writable],
  full: OFFERED_SCOPES,
} as const satisfies Record<string, readonly Scope[]>;

export type ScopePreset = keyof typeof SCOPE_PRESETS;

const known: ReadonlySet<string> = new Set(SCOPES);

export function isScope(value: string): value is Scope {
  return known.has(value);
}

/** Checks a scope list. @returns the problem, or undefined if a key may have this list. */
export function getScopeListIssue(scopes: readonly Scope[]): string | undefined {
  if (scopes.length === 0) return 'scopes: expected at least one';
  const unknown = scopes.find((scope) => !isScope(scope));
  if (unknown !== undefined) {
    return `scopes: unknown ${JSON.stringify(unknown)}. Possible: ${SCOPES.join(', ')}`;
  }
  const confined = scopes.find((scope) => CONFINED_SCOPES.includes(scope));
  if (confined !== undefined && scopes.length > 1) return `${confined} must be a key's only scope`;
  return undefined;
}
