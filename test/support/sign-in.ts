import { USERS } from '@questline/core';
import type { World } from './world.ts';

/** What sign-in answers, whatever it answers. */
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

/** A call of somebody not signed in. */
export async function post(world: World, path: string, body: object, from?: string): Promise<SignInAnswer> {
  const answer = await world.ask('POST', path, {
    credential: null,
    body,
    ...(from !== undefined && { from }),
  });
  return { status: answer.status, body: (await answer.json()) as SignInBody };
}

/** Asks for a code and reads it in the mail. */
export async function codeFor(
  world: World,
  email: string,
  from?: string,
): Promise<{ readonly email: string; readonly code: string; readonly pendingToken: string }> {
  const { body } = await post(world, '/api/otc/send', { email }, from);
  const mail = world.mails.findLast(({ to }) => to === email);
  const code = /\b\d{6}\b/.exec(mail?.text ?? '')?.[0] ?? '';
  return { email, code, pendingToken: body.pendingToken ?? '' };
}

/** The world's user made an administrator, signed in. */
export async function adminToken(world: World): Promise<string> {
  await world.services.store.collection(USERS).update(world.user.id, { isAdmin: true });
  return world.token();
}
