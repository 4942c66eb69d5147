import { ApiError, forbidden } from '../errors.ts';
import { USERS, type UserRecord } from '../identity/records.ts';
import type { AccessTokens } from '../identity/tokens.ts';
import type { PipelineServices } from '../pipeline.ts';
import type { CreditLedger } from '../ports/ledger.ts';
import type { Mailer } from '../ports/mailer.ts';
import type { Store } from '../ports/store.ts';
import { jsonReply, type Reply } from '../reply.ts';
import { defineRoute, type Route } from '../route.ts';
import type { Switches } from '../settings/admin.ts';
import { toWireUser } from '../users/wire.ts';
import type { Challenges } from './challenges.ts';
import { clientOf } from './client.ts';
import { sendCode, verifyCode } from './contract.ts';
import { type SignInLimits, takeSlot } from './limits.ts';
import { codeMail } from './mail.ts';
import { register } from './registration.ts';

export interface SignInServices extends PipelineServices {
  readonly store: Store;
  readonly ledger: CreditLedger;
  readonly switches: Switches;
  readonly tokens: AccessTokens;
  readonly signInLimits: SignInLimits;
  readonly challenges: Challenges;
  readonly mailer: Mailer;
  readonly appName: string;
}

/** `POST /api/otc/send`: does the same for every address, so that none is told from another. */
export function createSendCodeHandler(services: SignInServices): Route {
  const { challenges, mailer, appName } = services;
  return defineRoute(sendCode, services, async ({ body: { email } }, { request }) => {
    await takeSlot(services, 'sendFrom', clientOf(request.remoteAddress));
    await takeSlot(services, 'sendTo', email);
    const { code, pendingToken } = await challenges.begin(email);
    try {
      await mailer.send(codeMail(email, code, appName));
    } catch (cause) {
      throw new ApiError(503, 'The mail could not be sent. Try again shortly.', {
        applicationCode: 'INTERNAL_ERROR',
        headers: { 'Retry-After': '30' },
        cause,
      });
    }
    return secretly({ pendingToken });
  });
}

/** `POST /api/otc/verify` */
export function createVerifyCodeHandler(services: SignInServices): Route {
  const users = services.store.collection(USERS);
  return defineRoute(verifyCode, services, async ({ body }, { request }) => {
    const { email, code, username, inviteCode } = body;
    await takeSlot(services, 'verifyFrom', clientOf(request.remoteAddress));
    const answered = await services.challenges.answer(email, body.pendingToken, code);
    if (answered.kind === 'void') throw invalidCode();
    if (answered.kind === 'wrong') throw invalidCode(answered);

    const [known] = await users.find({ email }, { limit: 1 });
    if (known !== undefined) {
      await answered.finish();
      return secretly({ ...toWireUser(known), ...(await admit(services, known)) });
    }
    if (username === undefined) {
      const pendingToken = await answered.keepOpen();
      return secretly({ registrationRequired: true, email, pendingToken });
    }
    const user = await register(services, { email, username, inviteCode });
    if (user === undefined) throw registrationClosed(await answered.keepOpen());
    await answered.finish();
    if (user === 'taken') throw invalidCode();
    return secretly({ user: toWireUser(user), ...(await admit(services, user)) });
  });
}

/**
 * Gives a user tokens, and the credits an account starts with: granted under one key, so once, however often asked for.
 * @throws ApiError 403 for a disabled account.
 */
async function admit(
  { ledger, tokens }: SignInServices,
  user: UserRecord,
): Promise<{ accessToken: string; refreshToken: string }> {
  if (user.disabled) throw forbidden('This account is disabled');
  const { startingCredits = 0 } = user;
  if (startingCredits > 0) {
    const account = `user:${user.id}`;
    await ledger.grant({ account, amount: startingCredits, key: 'registration', reason: 'registration' });
  }
  return signTokens(tokens, user);
}

export async function signTokens(
  tokens: AccessTokens,
  { id, tokenVersion }: UserRecord,
): Promise<{ accessToken: string; refreshToken: string }> {
  const [accessToken, refreshToken] = await Promise.all([
    tokens.sign({ id, tokenVersion, typ: 'access' }),
    tokens.sign({ id, tokenVersion, typ: 'refresh' }),
  ]);
  return { accessToken, refreshToken };
}

/** What carries a token is kept by nobody on the way. */
export function secretly(value: unknown): Reply {
  return jsonReply(200, value, { 'Cache-Control': 'no-store' });
}

function invalidCode(wrong?: { readonly attemptsLeft: number; readonly pendingToken: string }): ApiError {
  return new ApiError(422, 'The code is wrong or has expired', {
    applicationCode: 'INVALID_CODE',
    ...(wrong && {
      details: { attemptsLeft: wrong.attemptsLeft },
      extra: { pendingToken: wrong.pendingToken },
    }),
  });
}

function registrationClosed(pendingToken: string): ApiError {
  return new ApiError(403, 'Registration needs an invite', {
    applicationCode: 'REGISTRATION_CLOSED',
    extra: { pendingToken },
  });
}
