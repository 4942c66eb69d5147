import { isSharedWith } from '../../access/access.ts';
import { USERS } from '../../identity/records.ts';
import { actingFor } from '../../operations/audit.ts';
import { parseExpiry } from '../../operations/expiry.ts';
import { findNumberedPage } from '../../operations/find-page.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import type { Mailer } from '../../ports/mailer.ts';
import type { Filter, Store } from '../../ports/store.ts';
import { invalid, notFound } from '../../shared/errors.ts';
import { hashSecret } from '../../shared/secrets.ts';
import { acceptInvite, listInvites, readInvite, refuseInvite } from './contract.ts';
import { accept, answerable, dropInvitesToDeleted, insertInvite, showInvites } from './invites.ts';
import { inviteMail } from './mail.ts';
import { SHARING_INVITES, type SharingInviteRecord } from './records.ts';
import type { Resource } from './resource.ts';
import { leaveShare, requireRight, revokeShares } from './shares.ts';

const HOUR = { name: 'hour', lengthMs: 3_600_000 };
/** Maximum mails per hour of one sender, and to one address: beyond them an invite is created without a mail. */
const MAILS_FROM = { ...HOUR, limit: 50 };
const MAILS_TO = { ...HOUR, limit: 5 };

export interface SharingServices extends PipelineServices {
  readonly store: Store;
  readonly mailer?: Mailer;
  readonly appName: string;
  readonly publicUrl: string | undefined;
}

/** Routes of single resources, and their shareable records. */
export function sharingRoutes(services: SharingServices, resources: readonly Resource[]): Route[] {
  return [
    ...resources.flatMap((resource) => resourceRoutes(services, resource)),
    createReadInviteHandler(services, resources),
    createListInvitesHandler(services, resources),
    createAcceptInviteHandler(services, resources),
    createRefuseInviteHandler(services),
  ];
}

/** Handlers for every shareable kind. */
function resourceRoutes(services: SharingServices, resource: Resource): Route[] {
  const { store, ids, clock } = services;
  const { subject, type } = resource;
  const { read, listInvites: list, createInvite, revokeSharing, leave } = resource.operations;
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
      const { order: direction = 'desc', search = '' } = query;
      const filter: Filter<SharingInviteRecord> = {
        type,
        resourceId: params.id,
        ...(search !== '' && { email: { contains: search } }),
      };
      const { rows, pagination } = await findNumberedPage(invites, filter, query, {
        field: 'createdAt',
        direction,
      });
      const shown = await showInvites([resource], store, rows);
      return { invites: [...shown.values()], pagination };
    }),

    defineRoute(createInvite, services, async ({ params, body }, call) => {
      const { caller } = call;
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
        expiresAt: parseExpiry(body.expiresAt, now),
      };
      await actingFor(services, call).store.transaction((inner) => insertInvite(inner, invite, now));
      await sendMail(services, invite, inviter?.email ?? '');
      const shown = (await showInvites([resource], store, [invite])).get(invite.id);
      if (shown === undefined) throw notFound(subject);
      return shown;
    }),

    defineRoute(revokeSharing, services, async ({ params, body }, call) => {
      const { caller } = call;
      const acting = actingFor(services, call).store;
      const { userId } = caller;
      const owned = { ownerId: userId };
      if (body.userId === userId && (await isSharer(params.id, userId))) {
        await acting.transaction((inner) => leaveShare(resource, inner, params.id, userId));
        services.authenticator.forgetUser(userId);
        return { success: true, message: 'The share is revoked' };
      }
      await requireRight(resource, store, caller, params.id, owned);
      const out = await acting.transaction(async (inner) => {
        const record = await resource.records(inner).get(params.id, owned);
        if (record === undefined) throw notFound(subject);
        return revokeShares(resource, inner, record, body.userId);
      });
      // Credentials that depended on the share may have been revoked with it.
      for (const one of out) services.authenticator.forgetUser(one);
      return { success: true, message: 'The share is revoked' };
    }),

    defineRoute(leave, services, async ({ params }, call) => {
      const { caller } = call;
      const { userId } = caller;
      if ((await resource.show(caller, params.id, '')) === undefined) throw notFound(subject);
      await actingFor(services, call).store.transaction((inner) =>
        leaveShare(resource, inner, params.id, userId),
      );
      services.authenticator.forgetUser(userId);
      return { success: true, message: 'The share has ended' };
    }),
  ];

  async function isSharer(id: string, userId: string): Promise<boolean> {
    return (await resource.records(store).get(id, isSharedWith(userId))) !== undefined;
  }
}

/** The invite is valid even if its mail fails. */
async function sendMail(
  services: SharingServices,
  invite: SharingInviteRecord,
  inviter: string,
): Promise<void> {
  const { store, mailer, limiter, clock, appName, publicUrl, onError } = services;
  if (mailer === undefined) return;
  try {
    const [recipient] = await store.collection(USERS).find({ email: invite.email }, { limit: 1 });
    if (recipient?.notifications?.email === false) return;
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
    const shown = (await showInvites(resources, store, [invite])).get(invite.id);
    if (!isTheirs || shown === undefined) throw notFound('Invite');
    return shown;
  });
}

/** `GET /api/invites` */
function createListInvitesHandler(services: SharingServices, resources: readonly Resource[]): Route {
  const { store, clock } = services;
  const invites = store.collection(SHARING_INVITES);
  return defineRoute(listInvites, services, async ({ query }, { caller }) => {
    const { order: direction = 'desc' } = query;
    const user = await store.collection(USERS).get(caller.userId);
    const filter: Filter<SharingInviteRecord> = {
      email: user?.email ?? '',
      status: 'pending',
      anyOf: [{ expiresAt: null }, { expiresAt: { gt: clock.now() } }],
    };
    await dropInvitesToDeleted(resources, store, filter);
    const { rows, pagination } = await findNumberedPage(invites, filter, query, {
      field: 'createdAt',
      direction,
    });
    const shown = await showInvites(resources, store, rows);
    return { invites: [...shown.values()], pagination };
  });
}

/** `POST /api/invites/{id}/accept` */
function createAcceptInviteHandler(services: SharingServices, resources: readonly Resource[]): Route {
  const { clock } = services;
  return defineRoute(acceptInvite, services, async ({ params }, call) => {
    const { caller } = call;
    const resource = await actingFor(services, call).store.transaction((inner) =>
      accept(resources, inner, caller.userId, params.id, clock.now()),
    );
    return { success: true, message: 'The invite is accepted', resource };
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
