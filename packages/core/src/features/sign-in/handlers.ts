import { jsonReply, type Reply } from '../../contract/reply.ts';
import { USERS, type UserRecord } from '../../identity/records.ts';
import type { AdminSettingsReader } from '../../operations/admin-settings.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import type { CreditLedger } from '../../ports/ledger.ts';
import type { Mailer } from '../../ports/mailer.ts';
import type { Store } from '../../ports/store.ts';
import { type StoreWrite, writeAll, writesTo } from '../../ports/write-all.ts';
import { ApiError, forbidden } from '../../shared/errors.ts';
import { toWireUser } from '../organizations/wire.ts';
import type { Challenges } from './challenges.ts';
import { getClient } from './client.ts';
import { sendCode, verifyCode } from './contract.ts';
import type { SignInGuards } from './guards.ts';
import { type SignInLimits, takeSlots } from './limits.ts';
import { codeMail } from './mail.ts';
import { grantStartingCredits, register } from './registration.ts';
import type { TokenFamilies, Tokens } from './token-families.ts';

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
    const isKnown = await guards.isKnown(email, client);
    await takeSlots(
      services,
      ['sendFrom', client],
      // Per client: a stranger who requests codes does not lock the owner of the address out.
      ['sendTo', JSON.stringify([email, client])],
      ...(isKnown ? [] : [['sendToUnknown', email] as const]),
    );
    const { code, pendingToken } = challenges.begin(email);
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

/** `POST /api/otc/verify`: the same work for every address until the code is right. */
export function createVerifyCodeHandler(services: SignInServices): Route {
  const { challenges, guards } = services;
  const users = services.store.collection(USERS);
  return defineRoute(verifyCode, services, async ({ body }, { request }) => {
    const { email, username, inviteCode, pendingToken } = body;
    const client = getClient(request.remoteAddress);
    await takeSlots(services, ['verifyFrom', client]);
    const code = body.code.replaceAll(/\s/g, '');
    const guard = guards.toSteps(email, client);
    let found: readonly UserRecord[] | undefined;
    const readUser = writesTo(USERS).read({ email }, 1, (read) => {
      found = read;
    });
    let answered = await challenges.answer(email, pendingToken, code, [...guard.admit, readUser]);
    if (answered.kind === 'void') {
      // Also for known clients of a locked account.
      await guards.admit(email, client);
      answered = await challenges.answer(email, pendingToken, code);
    }
    if (answered.kind === 'void') throw invalidCode();
    if (answered.kind === 'wrong') {
      await guards.failed(email);
      throw invalidCode(answered);
    }

    const [known] = found ?? (await users.find({ email }, { limit: 1 }));
    if (known !== undefined) {
      const remember = found === undefined ? undefined : guard.remember();
      const tokens = await admit(services, known, {
        write: remember,
        otherwise: () => guards.succeeded(email, client),
      });
      return secretly({ ...toWireUser(known, services.defaultTheme), ...tokens });
    }
    await guards.succeeded(email, client);
    if (username === undefined) {
      return secretly({ registrationRequired: true, email, pendingToken: await answered.keepOpen() });
    }
    const user = await register(services, { email, username, inviteCode });
    if (user === undefined) throw registrationClosed(await answered.keepOpen());
    if (user === 'taken') throw invalidCode();
    return secretly({ user: toWireUser(user, services.defaultTheme), ...(await admit(services, user)) });
  });
}

/** A write that belongs to the tokens: in the same step, or before them. */
interface Along {
  readonly write: StoreWrite | undefined;
  otherwise(): Promise<void>;
}

/**
 * Issues tokens to a user, and grants the initial credits: under one key, so once for any number of attempts.
 * @throws ApiError 403 for a disabled account.
 */
async function admit(
  { store, ledger, tokenFamilies }: SignInServices,
  user: UserRecord,
  along?: Along,
): Promise<Tokens> {
  if (user.disabled) {
    await along?.otherwise();
    throw forbidden('This account is disabled');
  }
  await grantStartingCredits(ledger, user);
  if (along?.write !== undefined) {
    const family = tokenFamilies.prepare(user);
    if (await writeAll(store, [family.write, along.write])) return family.sign();
  }
  await along?.otherwise();
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
