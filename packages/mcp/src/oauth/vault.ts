import { createHash, randomBytes } from 'node:crypto';
import type {
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import {
  createSecretBox,
  TOOL_AUTHORIZATIONS,
  TOOL_CLIENTS,
  TOOL_CREDENTIALS,
  type ToolCredentialRecord,
} from '@questline/core/internal';
import type { Store } from '@questline/core/ports';

/** How long a user can take to authorize, in milliseconds. */
const AUTHORIZATION_LIFE_MS = 600_000;
/** How long the process that renews tokens keeps others from it, in milliseconds. */
const RENEWAL_MS = 30_000;
const SWEEP_BATCH = 100;

/** Where tokens come from, and for what. */
export interface Grant {
  readonly authorizationServer: string;
  readonly client: StoredOAuthClientInformation;
  readonly resource: string | undefined;
}

/** The access of a user to a server. */
export interface Credential extends Grant {
  readonly tokens: StoredOAuthTokens;
}

/** An authorization that a user has begun. */
export interface Begun extends Grant {
  readonly verifier: string;
  readonly discovery: OAuthDiscoveryState;
  readonly scope: string | undefined;
}

export interface Stored<T> {
  readonly record: ToolCredentialRecord;
  readonly value: T;
}

export interface Place {
  readonly userId: string;
  readonly serverId: string;
}

/** Keeps the secrets of users and of this deployment, encrypted and bound to their owner. */
export type Vault = ReturnType<typeof createVault>;

export function createVault(store: Store, key: string, now: () => number) {
  const box = createSecretBox(Buffer.from(key, 'hex'), { bytes: randomBytes });
  const credentials = store.collection(TOOL_CREDENTIALS);
  const authorizations = store.collection(TOOL_AUTHORIZATIONS);
  const clients = store.collection(TOOL_CLIENTS);

  const seal = (value: object, place: readonly string[]) => box.seal(JSON.stringify(value), place);
  /** Undefined after a change of the encryption key, too. */
  function open<T>(sealed: string, place: readonly string[]): T | undefined {
    const text = box.open(sealed, place);
    return text === undefined ? undefined : (JSON.parse(text) as T);
  }
  const credentialPlace = ({ userId, serverId }: Place) => ['tool-credential', userId, serverId];

  const get = async (place: Place): Promise<Stored<Credential> | undefined> => {
    const record = await credentials.get(idOf(place.userId, place.serverId), { userId: place.userId });
    const value = record && open<Credential>(record.sealed, credentialPlace(place));
    return record === undefined || value === undefined ? undefined : { record, value };
  };

  return {
    get,

    list: (userId: string) => credentials.find({ userId }),

    /** Replaces the credential of the user for the server. */
    async save(place: Place, value: Credential): Promise<void> {
      const id = idOf(place.userId, place.serverId);
      const sealed = seal(value, credentialPlace(place));
      const fresh = { ...place, sealed, renewingUntil: 0, version: now(), createdAt: now() };
      await store.transaction(async (inner) => {
        const records = inner.collection(TOOL_CREDENTIALS);
        await records.take(id);
        await records.insert({ id, ...fresh });
      });
    },

    /** @param version the record is deleted only if it still has it. @returns whether it was deleted. */
    async remove({ userId, serverId }: Place, version?: number): Promise<boolean> {
      const guard = { userId, ...(version !== undefined && { version }) };
      return (await credentials.take(idOf(userId, serverId), guard)) !== undefined;
    },

    /** Reserves the renewal for this process. @returns false if another one renews. */
    async reserve({ id, version }: ToolCredentialRecord): Promise<boolean> {
      const guard = { version, renewingUntil: { lte: now() } };
      return (await credentials.update(id, { renewingUntil: now() + RENEWAL_MS }, guard)) !== undefined;
    },

    release: ({ id, version }: ToolCredentialRecord) =>
      credentials.update(id, { renewingUntil: 0 }, { version }),

    /** Replaces the tokens, unless the user has disconnected or connected again. */
    async renew(place: Place, { record, value }: Stored<Credential>): Promise<void> {
      const sealed = seal(value, credentialPlace(place));
      const patch = { sealed, renewingUntil: 0, version: record.version + 1 };
      await credentials.update(record.id, patch, { version: record.version });
    },

    async begin(state: string, { userId, serverId }: Place, value: Begun): Promise<number> {
      const expired = await authorizations.find({ expiresAt: { lte: now() } }, { limit: SWEEP_BATCH });
      for (const { id } of expired) await authorizations.take(id);
      const id = idOf(state);
      const expiresAt = now() + AUTHORIZATION_LIFE_MS;
      const sealed = seal(value, ['tool-authorization', userId, serverId, id]);
      await authorizations.insert({ id, userId, serverId, sealed, expiresAt });
      return expiresAt;
    },

    /** Takes the authorization that the user has begun: once, and until it expires. */
    async take(state: string, userId: string) {
      const record = await authorizations.take(idOf(state), { userId });
      if (record === undefined || record.expiresAt <= now()) return undefined;
      const { id, serverId, sealed } = record;
      const value = open<Begun>(sealed, ['tool-authorization', userId, serverId, id]);
      return value === undefined ? undefined : { serverId, value };
    },

    async getClient(...at: readonly string[]): Promise<StoredOAuthClientInformation | undefined> {
      const id = idOf(...at);
      const record = await clients.get(id);
      return record && open(record.sealed, ['tool-client', id]);
    },

    async saveClient(value: StoredOAuthClientInformation, ...at: readonly string[]): Promise<void> {
      const id = idOf(...at);
      await clients.take(id);
      await clients.insert({ id, sealed: seal(value, ['tool-client', id]) });
    },

    async removeClient(...at: readonly string[]): Promise<void> {
      await clients.take(idOf(...at));
    },
  };
}

function idOf(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
