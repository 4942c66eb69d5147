import { jsonReply, type Reply } from '../../contract/reply.ts';
import { USERS, type UserRecord } from '../../identity/records.ts';
import type { AdminSettingsReader } from '../../operations/admin-settings.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import type { CreditLedger } from '../../ports/ledger.ts';
import type { Mailer } from '../../ports/mailer.ts';
import type { Store } from '../../ports/store.ts';
import { ApiError, forbidden } from '../../shared/errors.ts';
import { toWireUser } from '../organizations/wire.ts';
import type { Challenges } from './challenges.ts';
import { getClient } from './client.ts';
import { sendCode, verifyCode } from './contract.ts';
import type { SignInGuards } from './guards.ts';
import { type SignInLimits, takeSlot } from './limits.ts';
import { codeMail } from './mail.ts';
import { grantStartingCredits, register } from './registration.ts';
import type { TokenFamilies } from './token-families.ts';

export interface SignInServices extends PipelineServices {
  readonly store: Store;
  readonly ledger: CreditLedger;
  readonly adminSettings: AdminSettingsReader;
  readonly signInLimits: SignInLimits;
  readonly challenges: Challenges;
  readonly guards: SignInGuards;
  readonly tokenFamilies: TokenFamilies;
  /** The setup code: the first account of an empty workspace needs it instead of an invite. Absent: no code is needed. */
  readonly setupCode: string | undefined;
  readonly mailer: Mailer;
  readonly appName: string;
  readonly defaultTheme: string;
}

/** `POST /api/otc/send`: responds identically for every address, so that callers cannot detect accounts. */
export function createSendCodeHandler(services: SignInServices): Route {
  const { challenges, guards, mailer, appName } = services;
  return defineRoute(sendCode, services, async ({ body: { email } }, { request }) => {
    const client = getClient(request.remoteAddress);
    await takeSlot(services, 'sendFrom', client);
    // Per client: a stranger who requests codes does not lock the owner of the address out.
    await takeSlot(services, 'sendTo', JSON.stringify([email, client]));
    if (!(await guards.isKnown(email, client))) await takeSlot(services, 'sendToUnknown', email);
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
    const { email, username, inviteCode } = body;
    const { guards } = services;
    const client = getClient(request.remoteAddress);
    await takeSlot(services, 'verifyFrom', client);
    await guards.admit(email, client);
    const code = body.code.replaceAll(/\s/g, '');
    const answered = await services.challenges.answer(email, body.pendingToken, code);
    if (answered.kind === 'void') throw invalidCode();
    if (answered.kind === 'wrong') {
      await guards.failed(email);
      throw invalidCode(answered);
    }
    await guards.succeeded(email, client);

    const [known] = await users.find({ email }, { limit: 1 });
    if (known !== undefined) {
      await answered.finish();
      return secretly({ ...toWireUser(known, services.defaultTheme), ...(await admit(services, known)) });
    }
    if (username === undefined) {
      const pendingToken = await answered.keepOpen();
      return secretly({ registrationRequired: true, email, pendingToken });
    }
    const user = await register(services, { email, username, inviteCode });
    if (user === undefined) throw registrationClosed(await answered.keepOpen());
    await answered.finish();
    if (user === 'taken') throw invalidCode();
    return secretly({ user: toWireUser(user, services.defaultTheme), ...(await admit(services, user)) });
  });
}

/**
 * Issues tokens to a user, and grants the initial credits: under one key, so once for any number of attempts.
 * @throws ApiError 403 for a disabled account.
 */
async function admit(
  { ledger, tokenFamilies }: SignInServices,
  user: UserRecord,
): Promise<{ accessToken: string; refreshToken: string }> {
  if (user.disabled) throw forbidden('This account is disabled');
  await grantStartingCredits(ledger, user);
  return tokenFamilies.begin(user);
}

/** Responses with tokens must not be cached. */
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
