import { type Operation, USERS } from '@questline/core';
import { EXTERNAL_IDS } from '@questline/core/internal';
import type { Identity } from '@questline/core/ports';
import { hashSecret } from '../../packages/core/src/shared/secrets.ts';
import { askedIn, toTestAppOptions } from '../support/cases.ts';
import { makeSession } from '../support/owned-resources.ts';
import { NOW, type TestApp, type TestAppOptions } from '../support/test-app.ts';
import { type Asked, createWire, type Wire } from '../support/wire.ts';
import type { WireCase } from '../wire/cases/case.ts';
import { CASES } from '../wire/cases/index.ts';

/** A request that succeeds, and its app. */
export interface UsualCall {
  readonly wire: Wire;
  readonly asked: Asked;
}

/** How the users of a walk authenticate. */
export type CallerKind = 'keys and tokens' | 'sessions of the host';
export const CALLER_KINDS: readonly CallerKind[] = ['keys and tokens', 'sessions of the host'];

/** Operations that continue the latest session of a signed-in user. */
const CONTINUING: readonly string[] = ['sendChatMessage', 'generateImage'];

/** The first successful case of an operation, prepared but not sent. */
export async function defaultCall(
  operation: Operation,
  more: TestAppOptions = {},
  callers: CallerKind = 'keys and tokens',
): Promise<UsualCall> {
  const row = defaultRow(operation);
  const own = await toTestAppOptions(operation, row);
  const options = { ...own, ...more, settings: { ...own.settings, ...more.settings } };
  if (callers === 'keys and tokens') {
    const wire = await createWire(options);
    return { wire, asked: await askedIn(operation, row, wire.app) };
  }
  let app: TestApp | undefined;
  const wire = await createWire({ ...options, identity: createSessions(() => app) });
  app = wire.app;
  // Unlike an API key, a signed-in user continues the latest session, and so needs one.
  if (CONTINUING.includes(operation.id)) await makeSession(app, app.user);
  return { wire, asked: await withSession(app, await askedIn(operation, row, app)) };
}

/** A host whose cookie names a user of the app; administrators of the app stay administrators. */
function createSessions(getApp: () => TestApp | undefined): Identity {
  return {
    async identify({ headers }) {
      const id = /^sid=(\w+)$/.exec(`${headers.cookie}`)?.[1];
      const user = id === undefined ? undefined : await getApp()?.services.store.collection(USERS).get(id);
      return user && { externalId: `host:${user.id}`, roles: user.isAdmin ? ['admin'] : [] };
    },
  };
}

/** The same request with a session of the host in place of a key or token. */
async function withSession(app: TestApp, asked: Asked): Promise<Asked> {
  const { Authorization, ...headers } = asked.headers ?? {};
  if (Authorization === undefined) return asked;
  const { userId } = await app.services.authenticator.identify(Authorization.replace('Bearer ', ''));
  const externalId = `host:${userId}`;
  await app.services.store.collection(EXTERNAL_IDS).insert({
    id: hashSecret(externalId),
    externalId,
    userId,
    isWelcomed: true,
    createdAt: NOW,
  });
  return { ...asked, headers: { ...headers, Cookie: `sid=${userId}` } };
}

function defaultRow({ id }: Operation): WireCase {
  const row = CASES[id]?.find(({ status }) => status < 400);
  if (row === undefined) throw new Error(`the wire cases contain no success of ${id}`);
  return row;
}
