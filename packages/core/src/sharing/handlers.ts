import { expiryOf } from '../api-keys/grants.ts';
import { invalid, notFound } from '../errors.ts';
import { paginationOf } from '../http/pages.ts';
import { USERS } from '../identity/records.ts';
import { hashSecret } from '../identity/secrets.ts';
import type { PipelineServices } from '../pipeline.ts';
import type { Mailer } from '../ports/mailer.ts';
import type { Filter } from '../ports/store.ts';
import { defineRoute, type Route } from '../route.ts';
import { acceptInvite, listInvites, readInvite, refuseInvite, resourceOperations } from './contract.ts';
import { accept, answerable, insertInvite, toWireInvite } from './invites.ts';
import { inviteMail } from './mail.ts';
import { SHARING_INVITES, type SharingInviteRecord } from './records.ts';
import type { Resource } from './resource.ts';
import { type ResourcesServices, resourcesOf } from './resources.ts';
import { requireRight, shutOut } from './shares.ts';

const HOUR = { name: 'hour', lengthMs: 3_600_000 };
/** Mails within an hour that one person has sent, and that come to one address: beyond them an invite waits to be found. */
const MAILS_FROM = { ...HOUR, limit: 50 };
const MAILS_TO = { ...HOUR, limit: 5 };

export interface SharingServices extends PipelineServices, ResourcesServices {
  readonly mailer?: Mailer;
  readonly appName: string;
  readonly publicUrl: string | undefined;
}

/** Addresses of single things, and what can be shared of them. */
export function sharingRoutes(services: SharingServices): Route[] {
  const resources = resourcesOf(services);
  return [
    ...resources.flatMap((resource) => resourceRoutes(services, resource)),
    createReadInviteHandler(services, resources),
    createListInvitesHandler(services),
    createAcceptInviteHandler(services, resources),
    createRefuseInviteHandler(services),
  ];
}

/** What every kind of thing has. */
function resourceRoutes(services: SharingServices, resource: Resource): Route[] {
  const { store, ids, clock } = services;
  const { subject, type } = resource;
  const { read, listInvites: list, createInvite, revokeSharing } = resourceOperations(resource);
  const invites = store.collection(SHARING_INVITES);
  const users = store.collection(USERS);

  return [
    defineRoute(read, services, async ({ params }, { caller, mountPath }) => {
      const shown = await resource.show(caller, params.id, mountPath);
      if (shown === undefined) throw notFound(subject);
      return shown;
    }),

    defineRoute(list, services, async ({ params, query }, { caller }) => {
      await requireRight(resource, store, caller, params.id, resource.canInvite(caller.userId));
      const { page, limit, order: direction = 'desc', search = '' } = query;
      const filter: Filter<SharingInviteRecord> = {
        type,
        resourceId: params.id,
        ...(search !== '' && { email: { contains: search } }),
      };
      const [total, rows] = await Promise.all([
        invites.count(filter),
        invites.find(filter, {
          order: { field: 'createdAt', direction },
          offset: (page - 1) * limit,
          limit,
        }),
      ]);
      return { invites: rows.map(toWireInvite), pagination: paginationOf(query, total) };
    }),

    defineRoute(createInvite, services, async ({ params, body }, { caller }) => {
      const now = clock.now();
      const { userId } = caller;
      await requireRight(resource, store, caller, params.id, resource.canInvite(userId));
      const inviter = await users.get(userId);
      if (inviter?.email === body.email) throw invalid('email', 'this is your own address');
      const invite: SharingInviteRecord = {
        id: ids.next(),
        type,
        resourceId: params.id,
        email: body.email,
        permission: body.permission,
        status: 'pending',
        invitedBy: userId,
        createdAt: now,
        expiresAt: expiryOf(body.expiresAt, now),
      };
      await store.transaction((inner) => insertInvite(inner, invite, now));
      await sendMail(services, invite, inviter?.email ?? '');
      return toWireInvite(invite);
    }),

    defineRoute(revokeSharing, services, async ({ params, body }, { caller }) => {
      const owned = { ownerId: caller.userId };
      await requireRight(resource, store, caller, params.id, owned);
      const out = await store.transaction(async (inner) => {
        const record = await resource.records(inner).get(params.id, owned);
        if (record === undefined) throw notFound(subject);
        return shutOut(resource, inner, record, body.userId);
      });
      // What they held credentials for may have ended with it.
      for (const one of out) services.authenticator.forgetUser(one);
      return { success: true, message: 'It is shared no more' };
    }),
  ];
}

/** The invite stands, whatever becomes of its mail. */
async function sendMail(
  services: SharingServices,
  invite: SharingInviteRecord,
  inviter: string,
): Promise<void> {
  const { mailer, limiter, clock, appName, publicUrl, onError } = services;
  if (mailer === undefined) return;
  try {
    const now = clock.now();
    for (const [key, window] of [
      [`invite-mail-from:${invite.invitedBy}`, MAILS_FROM],
      [`invite-mail:${hashSecret(invite.email)}`, MAILS_TO],
    ] as const) {
      if (!(await limiter.take(key, [window], now)).allowed) return;
    }
    await mailer.send(inviteMail(invite.email, { inviter, type: invite.type, appName, publicUrl }));
  } catch (error) {
    onError({ operation: 'invite-mail', requestId: '', error });
  }
}

/** `GET /api/invite/{id}` */
function createReadInviteHandler(services: SharingServices, resources: readonly Resource[]): Route {
  const { store } = services;
  return defineRoute(readInvite, services, async ({ params }, { caller: { userId } }) => {
    const [invite, user] = await Promise.all([
      store.collection(SHARING_INVITES).get(params.id),
      store.collection(USERS).get(userId),
    ]);
    if (invite === undefined || user === undefined) throw notFound('Invite');
    const resource = resources.find(({ type }) => type === invite.type);
    const isTheirs =
      invite.email === user.email ||
      invite.invitedBy === userId ||
      (await resource?.records(store).get(invite.resourceId, resource.canInvite(userId))) !== undefined;
    if (!isTheirs) throw notFound('Invite');
    return toWireInvite(invite);
  });
}

/** `GET /api/invites` */
function createListInvitesHandler(services: SharingServices): Route {
  const { store, clock } = services;
  const invites = store.collection(SHARING_INVITES);
  return defineRoute(listInvites, services, async ({ query }, { caller }) => {
    const { page, limit, order: direction = 'desc' } = query;
    const user = await store.collection(USERS).get(caller.userId);
    const filter: Filter<SharingInviteRecord> = {
      email: user?.email ?? '',
      status: 'pending',
      anyOf: [{ expiresAt: null }, { expiresAt: { gt: clock.now() } }],
    };
    const [total, rows] = await Promise.all([
      invites.count(filter),
      invites.find(filter, {
        order: { field: 'createdAt', direction },
        offset: (page - 1) * limit,
        limit,
      }),
    ]);
    return { invites: rows.map(toWireInvite), pagination: paginationOf(query, total) };
  });
}

/** `POST /api/invites/{id}/accept` */
function createAcceptInviteHandler(services: SharingServices, resources: readonly Resource[]): Route {
  const { store, clock } = services;
  return defineRoute(acceptInvite, services, async ({ params }, { caller }) => {
    await store.transaction((inner) => accept(resources, inner, caller.userId, params.id, clock.now()));
    return { success: true, message: 'The invite is accepted' };
  });
}

/** `POST /api/invites/{id}/refuse` */
function createRefuseInviteHandler(services: SharingServices): Route {
  const { store, clock } = services;
  return defineRoute(refuseInvite, services, async ({ params }, { caller }) => {
    await store.transaction(async (inner) => {
      const { id } = await answerable(inner, caller.userId, params.id, clock.now());
      await inner.collection(SHARING_INVITES).update(id, { status: 'refused', pendingFor: undefined });
    });
    return { success: true, message: 'The invite is refused' };
  });
}
