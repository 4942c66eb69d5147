import type { UserRecord } from '@questline/core';
import type { Ids } from '@questline/core/ports';
import type { Random } from '@questline/testing';

/** An audit entry that an act must write. */
export interface ExpectedEntry {
  readonly action: string;
  readonly target: string;
  readonly organizationId?: string;
}

/** The ids of what an act has created. */
interface Created {
  readonly id: string;
  readonly _id: string;
  readonly invites: readonly { readonly _id: string }[];
}

/** One request, and the expected audit entries. */
export interface Act {
  readonly by: UserRecord;
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  readonly status: number;
  readonly done?: (answer: Created) => readonly ExpectedEntry[];
}

interface Owned {
  readonly id: string;
  readonly owner: UserRecord;
}

interface Organization {
  readonly id: string;
  owner: UserRecord;
  /** It cannot be deleted then. */
  hasCredit?: true;
  readonly members: Map<UserRecord, 'read' | 'write'>;
}

interface Share {
  readonly id: string;
  readonly organization: Organization;
  readonly from: UserRecord;
  readonly to: UserRecord;
  readonly permission: 'read' | 'write';
}

/** The records that the acts so far have created. */
export interface ActState {
  readonly admin: UserRecord;
  readonly users: readonly UserRecord[];
  readonly random: Random;
  keys: Owned[];
  providerKeys: Owned[];
  organizations: Organization[];
  webhooks: (Owned & { status: 'active' | 'disabled' })[];
  /** Registration invites. */
  invites: string[];
  /** Pending invites to organizations. */
  shares: Share[];
  readonly rights: Map<UserRecord, { isAdmin: boolean; disabled: boolean }>;
  next: number;
  readonly ids: Ids;
}

type MakeAct = () => Act | undefined;

const MAX_KEYS = 10;

/** Random acts; undefined if the state has no record to act on. */
export function createActs(state: ActState): readonly MakeAct[] {
  const { admin, random } = state;
  const pick = <T>(list: readonly T[]): T | undefined => (list.length === 0 ? undefined : random.pick(list));
  const name = (): string => `thing ${state.next++}`;
  const isEnabled = (user: UserRecord): boolean => state.rights.get(user)?.disabled !== true;
  const anyUser = (): UserRecord | undefined => pick(state.users.filter(isEnabled));
  const owned = <T extends { readonly owner: UserRecord }>(list: readonly T[]): T | undefined =>
    pick(list.filter(({ owner }) => isEnabled(owner)));
  return [
    ...keyActs(),
    ...userActs(),
    ...organizationActs(),
    ...memberActs(),
    ...otherActs(),
    ...refusedActs(),
  ];

  function keyActs(): MakeAct[] {
    const post = (path: string, action: string, body?: object, remove = false): MakeAct => {
      return () => {
        const key = owned(state.keys);
        if (key === undefined) return undefined;
        const { id, owner } = key;
        const entry = { action, target: id };
        const method = action === 'key.updated' ? 'PATCH' : 'POST';
        if (remove) state.keys = state.keys.filter((one) => one !== key);
        return {
          ...{ by: owner, method, path: `/api/user-api-keys/${id}/${path}`, status: 200 },
          ...(body !== undefined && { body: { ...body, requestsPerMinute: 1 + (state.next++ % 9000) } }),
          done: () => [entry],
        };
      };
    };
    return [
      () => {
        const by = anyUser();
        if (by === undefined || state.keys.filter(({ owner }) => owner === by).length >= MAX_KEYS)
          return undefined;
        const body = { name: name(), scopes: ['me:read'] };
        return {
          ...{ by, method: 'POST', path: '/api/user-api-keys', body, status: 201 },
          done: ({ id }) => {
            state.keys.push({ id, owner: by });
            return [{ action: 'key.created', target: id }];
          },
        };
      },
      post('rotate', 'key.rotated'),
      post('revoke', 'key.revoked', {}, true),
      post('rate-limit', 'key.updated', {}),
    ];
  }

  function userActs(): MakeAct[] {
    return [
      () => {
        const { id } = random.pick(state.users);
        const body = { credits: 1 + random.below(9), key: name() };
        return {
          ...{ by: admin, method: 'POST', path: `/api/users/${id}/credit-grants`, body, status: 200 },
          done: () => [{ action: 'credits.granted', target: `user:${id}` }],
        };
      },
      () => {
        const organization = pick(state.organizations);
        if (organization === undefined || random.chance(0.7)) return undefined;
        organization.hasCredit = true;
        const { id } = organization;
        const body = { credits: 1 + random.below(9), key: name() };
        return {
          ...{ by: admin, method: 'POST', path: `/api/organizations/${id}/credit-grants`, body, status: 200 },
          done: () => [{ action: 'credits.granted', target: `organization:${id}`, organizationId: id }],
        };
      },
      () => {
        const user = random.pick(state.users);
        const before = state.rights.get(user) ?? { isAdmin: false, disabled: false };
        const after = { isAdmin: random.chance(0.3), disabled: random.chance(0.2) };
        state.rights.set(user, after);
        const target = user.id;
        return {
          ...{ by: admin, method: 'PUT', path: `/api/users/${target}/access`, body: after, status: 200 },
          done: () => [
            ...(before.isAdmin === after.isAdmin ? [] : [{ action: 'user.role_changed', target }]),
            ...(before.disabled === after.disabled
              ? []
              : [{ action: after.disabled ? 'user.disabled' : 'user.enabled', target }]),
          ],
        };
      },
      () => {
        const { id } = random.pick(state.users);
        const body = { username: name() };
        return {
          ...{ by: admin, method: 'PATCH', path: `/api/users/${id}`, body, status: 200 },
          done: () => [{ action: 'user.updated', target: id }],
        };
      },
    ];
  }

  function organizationActs(): MakeAct[] {
    const change = (make: (organization: Organization) => Omit<Act, 'by'>): MakeAct => {
      return () => {
        const organization = owned(state.organizations);
        return organization && { by: organization.owner, ...make(organization) };
      };
    };
    return [
      () => {
        const by = anyUser();
        const body = { name: name() };
        if (by === undefined || state.organizations.length > 12) return undefined;
        return {
          ...{ by, method: 'POST', path: '/api/organizations', body, status: 201 },
          done: ({ _id: id }) => {
            state.organizations.push({ id, owner: by, members: new Map() });
            return [{ action: 'organization.created', target: id, organizationId: id }];
          },
        };
      },
      change(({ id }) => ({
        ...{ method: 'PATCH', path: `/api/organizations/${id}`, body: { name: name() }, status: 200 },
        done: () => [{ action: 'organization.updated', target: id, organizationId: id }],
      })),
      () => {
        if (random.chance(0.6)) return undefined;
        const organization = owned(state.organizations.filter(({ hasCredit }) => hasCredit !== true));
        if (organization === undefined) return undefined;
        const { id, owner } = organization;
        state.organizations = state.organizations.filter((one) => one !== organization);
        state.shares = state.shares.filter((one) => one.organization !== organization);
        return {
          ...{ by: owner, method: 'DELETE', path: `/api/organizations/${id}`, status: 204 },
          done: () => [{ action: 'organization.deleted', target: id, organizationId: id }],
        };
      },
      () => {
        const organization = owned(state.organizations);
        const heir = pick([...(organization?.members.keys() ?? [])]);
        if (organization === undefined || heir === undefined) return undefined;
        const { id, owner, members } = organization;
        members.delete(heir);
        members.set(owner, 'write');
        organization.owner = heir;
        return {
          ...{ by: owner, method: 'POST', path: `/api/organizations/${id}/transfer`, status: 200 },
          body: { userId: heir.id },
          done: () => [{ action: 'organization.transferred', target: id, organizationId: id }],
        };
      },
    ];
  }

  function memberActs(): MakeAct[] {
    const end = (path: string, byMember: boolean): MakeAct => {
      return () => {
        const organization = owned(state.organizations);
        const member = pick(
          [...(organization?.members.keys() ?? [])].filter((one) => !byMember || isEnabled(one)),
        );
        if (organization === undefined || member === undefined) return undefined;
        const { id, owner, members } = organization;
        members.delete(member);
        // Pending invites of and to the member end with the membership.
        const ended = state.shares.filter(
          (one) => one.organization === organization && [one.to, one.from].includes(member),
        );
        state.shares = state.shares.filter((one) => !ended.includes(one));
        return {
          ...{
            by: byMember ? member : owner,
            method: 'POST',
            path: `/api/organization/${id}/${path}`,
            status: 200,
          },
          ...(byMember ? {} : { body: { userId: member.id } }),
          done: () => [
            { action: 'organization.member_removed', target: id, organizationId: id },
            ...ended.map((one) => ({
              action: 'organization.invite_revoked',
              target: one.id,
              organizationId: id,
            })),
          ],
        };
      };
    };
    return [
      () => {
        const organization = owned(state.organizations);
        const to = anyUser();
        if (organization === undefined || to === undefined || to === organization.owner) return undefined;
        const { id, owner } = organization;
        if (state.shares.some((one) => one.organization === organization && one.to === to)) return undefined;
        const permission = random.pick(['read', 'write'] as const);
        const body = { email: to.email, permission };
        return {
          ...{ by: owner, method: 'POST', path: `/api/organization/${id}/invites`, body, status: 201 },
          done: ({ _id }) => {
            state.shares.push({ id: _id, organization, from: owner, to, permission });
            return [{ action: 'organization.member_invited', target: _id, organizationId: id }];
          },
        };
      },
      () => {
        // The new owner of a transferred organization does not control the offers of the previous one.
        const share = pick(
          state.shares.filter(({ to, organization: { owner } }) => isEnabled(to) && to !== owner),
        );
        if (share === undefined) return undefined;
        state.shares = state.shares.filter((one) => one !== share);
        const { organization, to, permission } = share;
        const { id, members } = organization;
        const before = members.get(to);
        const after = before === 'write' ? before : permission;
        members.set(to, after);
        const action = before === undefined ? 'member_added' : 'member_role_changed';
        return {
          ...{ by: to, method: 'POST', path: `/api/invites/${share.id}/accept`, status: 200 },
          done: () =>
            before === after ? [] : [{ action: `organization.${action}`, target: id, organizationId: id }],
        };
      },
      end('revokeSharing', false),
      end('leave', true),
    ];
  }

  function otherActs(): MakeAct[] {
    return [
      () => {
        const value = 1_000_000 + state.next++;
        const body = { key: 'MaxFileSize', value };
        return {
          ...{ by: admin, method: 'PUT', path: '/api/settings/update', body, status: 200 },
          done: () => [{ action: 'setting.changed', target: 'MaxFileSize' }],
        };
      },
      () => {
        const body = { multiple: 2 };
        return {
          ...{ by: admin, method: 'POST', path: '/api/reg-invites/create', body, status: 201 },
          done: ({ invites }) =>
            invites.map(({ _id }) => {
              state.invites.push(_id);
              return { action: 'registration_invite.created', target: _id };
            }),
        };
      },
      () => {
        const id = state.invites.pop();
        if (id === undefined) return undefined;
        const body = { ids: [id, 'f'.repeat(24)] };
        return {
          ...{ by: admin, method: 'POST', path: '/api/reg-invites/delete', body, status: 200 },
          done: () => [{ action: 'registration_invite.deleted', target: id }],
        };
      },
      ...providerKeyActs(),
      ...webhookActs(),
    ];
  }

  function providerKeyActs(): MakeAct[] {
    return [
      () => {
        const by = anyUser();
        const body = { name: name(), service: 'openai', key: `sk-${state.next++}-secret-secret` };
        if (by === undefined) return undefined;
        return {
          ...{ by, method: 'POST', path: '/api/api-keys/create', body, status: 201 },
          done: ({ _id: id }) => {
            state.providerKeys.push({ id, owner: by });
            return [{ action: 'provider_key.created', target: id }];
          },
        };
      },
      () => {
        const key = owned(state.providerKeys);
        if (key === undefined) return undefined;
        const { id, owner } = key;
        return {
          ...{ by: owner, method: 'POST', path: `/api/api-keys/${id}/set-active`, status: 200 },
          done: () => [{ action: 'provider_key.activated', target: id }],
        };
      },
      () => {
        const key = owned(state.providerKeys);
        if (key === undefined) return undefined;
        state.providerKeys = state.providerKeys.filter((one) => one !== key);
        return {
          ...{ by: key.owner, method: 'DELETE', path: `/api/api-keys/${key.id}/delete`, status: 200 },
          done: () => [{ action: 'provider_key.deleted', target: key.id }],
        };
      },
    ];
  }

  function webhookActs(): MakeAct[] {
    return [
      () => {
        const by = anyUser();
        const body = { url: 'https://hooks.example.com/in', description: name() };
        if (by === undefined || state.webhooks.filter(({ owner }) => owner === by).length >= MAX_KEYS)
          return undefined;
        return {
          ...{ by, method: 'POST', path: '/api/webhooks', body, status: 201 },
          done: ({ id }) => {
            state.webhooks.push({ id, owner: by, status: 'active' });
            return [{ action: 'webhook.created', target: id }];
          },
        };
      },
      () => {
        const webhook = owned(state.webhooks);
        if (webhook === undefined) return undefined;
        const { id, owner, status: before } = webhook;
        const status = random.pick(['active', 'disabled'] as const);
        webhook.status = status;
        const body = { status, description: name() };
        return {
          ...{ by: owner, method: 'PATCH', path: `/api/webhooks/${id}`, body, status: 200 },
          done: () => [
            { action: 'webhook.updated', target: id },
            ...(status === before
              ? []
              : [{ action: status === 'active' ? 'webhook.enabled' : 'webhook.disabled', target: id }]),
          ],
        };
      },
      () => {
        const webhook = owned(state.webhooks);
        if (webhook === undefined) return undefined;
        const { id, owner } = webhook;
        return {
          ...{ by: owner, method: 'POST', path: `/api/webhooks/${id}/rotate-secret`, status: 200 },
          done: () => [{ action: 'webhook.secret_rotated', target: id }],
        };
      },
      () => {
        const webhook = owned(state.webhooks);
        if (webhook === undefined) return undefined;
        state.webhooks = state.webhooks.filter((one) => one !== webhook);
        const { id, owner } = webhook;
        return {
          ...{ by: owner, method: 'DELETE', path: `/api/webhooks/${id}`, status: 204 },
          done: () => [{ action: 'webhook.deleted', target: id }],
        };
      },
    ];
  }

  /** Acts that change nothing write no entry. */
  function refusedActs(): MakeAct[] {
    const stranger = (): UserRecord | undefined =>
      pick(state.users.filter((one) => isEnabled(one) && state.rights.get(one)?.isAdmin !== true));
    return [
      () => {
        const by = stranger();
        const body = { credits: 1, key: name() };
        return by && { by, method: 'POST', path: `/api/users/${by.id}/credit-grants`, body, status: 403 };
      },
      () => {
        const by = stranger();
        const key = pick(state.keys.filter(({ owner }) => owner !== by));
        return (
          by &&
          key && { by, method: 'POST', path: `/api/user-api-keys/${key.id}/revoke`, body: {}, status: 404 }
        );
      },
      () => {
        const by = anyUser();
        return (
          by && { by, method: 'PATCH', path: `/api/users/${by.id}`, body: { username: name() }, status: 200 }
        );
      },
    ];
  }
}
