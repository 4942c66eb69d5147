import { USERS } from '@questline/core';
import type { TestApp } from './test-app.ts';

/** The fields of all sign-in answers. */
export interface SignInBody {
  readonly pendingToken?: string;
  readonly accessToken?: string;
  readonly refreshToken?: string;
  readonly registrationRequired?: boolean;
  readonly isAdmin?: boolean;
  readonly user?: { readonly _id: string; readonly isAdmin: boolean };
  readonly error?: { readonly code: string; readonly details?: { readonly attemptsLeft: number } };
}

export interface SignInAnswer {
  readonly status: number;
  readonly body: SignInBody;
}

/** A request without credentials. */
export async function post(app: TestApp, path: string, body: object, from?: string): Promise<SignInAnswer> {
  const answer = await app.ask('POST', path, {
    credential: null,
    body,
    ...(from !== undefined && { from }),
  });
  return { status: answer.status, body: (await answer.json()) as SignInBody };
}

/** Requests a code and reads it from the mail. */
export async function codeFor(
  app: TestApp,
  email: string,
  from?: string,
): Promise<{ readonly email: string; readonly code: string; readonly pendingToken: string }> {
  const { body } = await post(app, '/api/otc/send', { email }, from);
  const mail = app.mails.findLast(({ to }) => to === email);
  const code = /\b\d{6}\b/.exec(mail?.text ?? '')?.[0] ?? '';
  return { email, code, pendingToken: body.pendingToken ?? '' };
}

/** Makes the app's user an administrator and returns an access token. */
export async function adminToken(app: TestApp): Promise<string> {
  await app.services.store.collection(USERS).update(app.user.id, { isAdmin: true });
  return app.token();
}
