import type { HostSession } from '../src/settings.ts';

/** Who is signed in at this page. */
export interface Session {
  /** The host signs users in; undefined: this page does. */
  readonly host: HostSession | undefined;
  /** Whether a user may be signed in, as far as the page knows without asking. */
  isOpen(): boolean;
  getToken(): Promise<string | null>;
  /** After a rejected token. @returns whether there is a new one. */
  renew(): Promise<boolean>;
  begin(token: string): void;
  end(): void;
}

const TOKEN = 'questline.token';

export function createSession(host: HostSession | undefined): Session {
  if (host === undefined) return ownSession();
  return 'tokenUrl' in host ? tokenSession(host, host.tokenUrl) : cookieSession(host);
}

/** Signed in at this page: the token is all that it stores. */
function ownSession(): Session {
  return {
    host: undefined,
    isOpen: () => localStorage.getItem(TOKEN) !== null,
    getToken: async () => localStorage.getItem(TOKEN),
    renew: async () => false,
    begin: (token) => localStorage.setItem(TOKEN, token),
    end: () => localStorage.removeItem(TOKEN),
  };
}

/** The host hands out tokens, which stay in memory. */
function tokenSession(host: HostSession, tokenUrl: string): Session {
  let token: Promise<string | null> | undefined;
  const request = async (): Promise<string | null> => {
    const answer = await fetch(tokenUrl, { headers: { Accept: 'application/json' } });
    if (answer.status === 401 || answer.status === 403) return null;
    if (!answer.ok) throw new Error(`The sign-in of this site answered ${answer.status}`);
    const { accessToken } = (await answer.json()) as { accessToken?: unknown };
    if (typeof accessToken !== 'string') throw new Error('The sign-in of this site answered without a token');
    return accessToken;
  };
  const getToken = (): Promise<string | null> => {
    token ??= request().catch((error: unknown) => {
      token = undefined;
      throw error;
    });
    return token;
  };
  return {
    host,
    isOpen: () => true,
    getToken,
    async renew() {
      token = undefined;
      return (await getToken()) !== null;
    },
    begin: () => undefined,
    end: () => {
      token = undefined;
    },
  };
}

/** The host's cookies travel with every same-origin request. */
function cookieSession(host: HostSession): Session {
  return {
    host,
    isOpen: () => true,
    getToken: async () => null,
    renew: async () => false,
    begin: () => undefined,
    end: () => undefined,
  };
}
