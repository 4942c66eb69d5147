/** A host that signs its users in itself: the console asks it for an access token instead of showing its own sign-in page. */
export interface HostTokens {
  /**
   * A same-origin endpoint of the host. The page requests it with the host's cookies; it answers
   * `{ "accessToken": "..." }`, or 401 for a signed-out user. Requested again when the token expires.
   */
  readonly tokenUrl: string;
  /** Where a signed-out user is sent. Default: a page that says so. */
  readonly signInUrl?: string;
  /** Where "Sign out" leads. Default: no such button. */
  readonly signOutUrl?: string;
}

/** A host whose `authenticator` accepts its own cookies on API requests: the page sends no token. */
export interface HostCookies extends Pick<HostTokens, 'signInUrl' | 'signOutUrl'> {
  readonly cookies: true;
}

export type HostSession = HostTokens | HostCookies;

/** The part of an API that decides which pages the console shows. */
export interface OfferedRoutes {
  readonly routes: readonly { readonly operation: { readonly id: string } }[];
}

export interface ConsoleSettings {
  /** The page's path below the mount point. Default `/`. Its files are served beside it. */
  readonly path?: string;
  /** Other origins that the page may connect to, e.g. an object store with signed URLs. */
  readonly connectTo?: readonly string[];
  /** Uses the host's session. Default: users sign in with a code by e-mail. */
  readonly session?: HostSession;
  /** The mounted API. Pages whose operations it leaves out are hidden. Default: all pages. */
  readonly api?: OfferedRoutes;
}

/** Page name → an operation without which the page has no use. */
const NEEDED: Readonly<Record<string, string>> = {
  'agent-requests': 'approveAgent',
  'api-keys': 'createApiKey',
  'data-lakes': 'createDataLake',
  'provider-keys': 'createProviderKey',
  agents: 'createAgent',
  artifacts: 'listArtifacts',
  audit: 'listAuditEntries',
  budgets: 'createBudget',
  chat: 'sendChatMessage',
  files: 'createFileUpload',
  images: 'generateImage',
  invitations: 'acceptInvite',
  invites: 'createRegistrationInvites',
  organizations: 'createOrganization',
  profile: 'updateUser',
  projects: 'createProject',
  reports: 'getWorkspaceUsageReport',
  settings: 'updateAdminSetting',
  shared: 'acceptInvite',
  'sign-in': 'sendSignInCode',
  usage: 'getUsage',
  users: 'listUsers',
  webhooks: 'createWebhook',
};

/** The names of the pages that an API leaves out. */
export function getHiddenPages(api: OfferedRoutes | undefined): string[] {
  if (api === undefined) return [];
  const offered = new Set(api.routes.map(({ operation }) => operation.id));
  const isLeftOut = (...ids: readonly string[]): boolean => ids.every((id) => !offered.has(id));
  const hidden = Object.entries(NEEDED).flatMap(([page, id]) => (isLeftOut(id) ? [page] : []));
  return isLeftOut('createVideoGeneration', 'createMusicGeneration') ? [...hidden, 'generations'] : hidden;
}
