import type { ExamplesFile, ServicesFor } from '../../operations/feature-parts.ts';
import type { Mailer } from '../../ports/mailer.ts';
import { registrationInviteAudit } from './audit.ts';
import { CHALLENGES, type Challenges } from './challenges.ts';
import { EXTERNAL_IDS } from './external-ids.ts';
import { SIGN_IN_GUARDS, type SignInGuards } from './guards.ts';
import { createSendCodeHandler, createVerifyCodeHandler } from './handlers.ts';
import { hideClearCodes } from './invite-codes.ts';
import { REGISTRATION_INVITES } from './invite-records.ts';
import {
  createCreateRegistrationInvitesHandler,
  createDeleteRegistrationInvitesHandler,
  createListRegistrationInvitesHandler,
} from './invites-handlers.ts';
import { personalSignIn } from './personal.ts';
import { FIRST_ADMIN } from './registration.ts';
import { createIdentifyHandler, createLogOutHandler, createRefreshTokensHandler } from './signed-in.ts';
import { TOKEN_FAMILIES, type TokenFamilies } from './token-families.ts';

type SignInServices = Omit<
  ServicesFor<typeof createSendCodeHandler> & ServicesFor<typeof createVerifyCodeHandler>,
  'mailer'
> &
  ServicesFor<typeof createCreateRegistrationInvitesHandler> &
  ServicesFor<typeof createDeleteRegistrationInvitesHandler> &
  ServicesFor<typeof createListRegistrationInvitesHandler> &
  ServicesFor<typeof createIdentifyHandler> &
  ServicesFor<typeof createLogOutHandler> &
  ServicesFor<typeof createRefreshTokensHandler> & { readonly mailer?: Mailer };

export const signIn = {
  name: 'sign-in',
  auditSources: [registrationInviteAudit],
  examples: (): Promise<ExamplesFile> => import('./examples.json', { with: { type: 'json' } }),
  collections: [CHALLENGES, EXTERNAL_IDS, REGISTRATION_INVITES, FIRST_ADMIN, TOKEN_FAMILIES, SIGN_IN_GUARDS],
  routes: (services: SignInServices) => [
    ...mailRoutes(services),
    createRefreshTokensHandler(services),
    createIdentifyHandler(services),
    createLogOutHandler(services),
  ],
  personal: (services: ServicesFor<typeof personalSignIn>) => personalSignIn(services),
  periodicTasks: (
    services: {
      readonly challenges: Challenges;
      readonly guards: SignInGuards;
      readonly tokenFamilies: TokenFamilies;
    } & ServicesFor<typeof hideClearCodes>,
  ) => [
    { name: 'sweep-sign-in-challenges', everyMs: 600_000, run: () => services.challenges.sweep() },
    { name: 'sweep-sign-in-guards', everyMs: 600_000, run: () => services.guards.sweep() },
    { name: 'sweep-token-families', everyMs: 600_000, run: () => services.tokenFamilies.sweep() },
    { name: 'hide-invite-codes', everyMs: 600_000, atStart: true, run: () => hideClearCodes(services) },
  ],
};

/** Without a mailer, sign-in codes are off, and their paths belong to the host. */
function mailRoutes(services: SignInServices) {
  const { mailer } = services;
  if (mailer === undefined) return [];
  return [
    createSendCodeHandler({ ...services, mailer }),
    createVerifyCodeHandler({ ...services, mailer }),
    createListRegistrationInvitesHandler(services),
    createCreateRegistrationInvitesHandler(services),
    createDeleteRegistrationInvitesHandler(services),
  ];
}
