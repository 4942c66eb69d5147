import type { HostIdentity, Identity, IdentityRequest } from '@questline/core/ports';
import { createTestApp, type TestApp, type TestAppOptions } from './test-app.ts';

/** A host with its own sessions, named by the cookie `sid`. */
export interface Host {
  readonly identity: Identity;
  /** Results of `identify` by session: users, or invalid values. */
  readonly sessions: Map<string, unknown>;
  /** Calls of `identify`. */
  readonly asked: IdentityRequest[];
}

export function createHost(credential?: Identity['credential']): Host {
  const sessions = new Map<string, unknown>();
  const asked: IdentityRequest[] = [];
  return {
    sessions,
    asked,
    identity: {
      ...(credential !== undefined && { credential }),
      async identify(request) {
        asked.push(request);
        const { cookie } = request.headers;
        const answer = sessions.get(/sid=(\w+)/.exec(`${cookie}`)?.[1] ?? '');
        return (typeof answer === 'function' ? answer() : answer) as HostIdentity | undefined;
      },
    },
  };
}

export interface HostApp {
  readonly app: TestApp;
  readonly host: Host;
  /** Signs a user in. @returns the headers of the session. */
  signIn(answer: unknown): { readonly Cookie: string };
  /** Sends a request with the cookie of a session. */
  ask(
    headers: Readonly<Record<string, string>>,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ readonly status: number; readonly body: Record<string, unknown>; readonly headers: Headers }>;
}

export async function createHostApp(
  options: TestAppOptions & { readonly host?: Host } = {},
): Promise<HostApp> {
  const { host = createHost(), ...others } = options;
  const app = await createTestApp({ ...others, identity: host.identity });
  return {
    app,
    host,
    signIn(answer) {
      const sid = `s${host.sessions.size + 1}`;
      host.sessions.set(sid, answer);
      return { Cookie: `sid=${sid}` };
    },
    async ask(headers, method, path, body) {
      const answer = await app.ask(method, path, { credential: null, headers, body });
      const text = await answer.text();
      const isJson = answer.headers.get('content-type')?.startsWith('application/json') === true;
      return { status: answer.status, body: isJson ? JSON.parse(text) : { text }, headers: answer.headers };
    },
  };
}
