import { createHash, randomBytes, randomInt } from 'node:crypto';
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
import type { AuthorizedServer } from './options.ts';

/** How long a user can take to authorize, in milliseconds. */
const AUTHORIZATION_LIFE_MS = 600_000;
/** How long the process that renews tokens keeps others from it, in milliseconds. */
const RENEWAL_MS = 30_000;
const SWEEP_BATCH = 100;
/** The maximum of authorizations that a user has begun and not finished; the oldest ones end. */
const MAX_BEGUN = 10;
/** Exclusive: versions and their increments are safe integers. */
const MAX_VERSION = 2 ** 47;

/** Where tokens come from, and for what. */
export interface Grant {
  /** The address of the tool server: no other one gets the tokens. */
  readonly serverUrl: string;
  readonly authorizationServer: string;
  readonly client: StoredOAuthClientInformation;
  readonly resource: string | undefined;
}

/** The access of a user to a server. */
export interface Credential extends Grant {
  /** Differs for each authorization by the user; stays when the tokens are renewed. */
  readonly grant: string;
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

/** A user at a tool server. */
export interface Place {
  readonly userId: string;
  readonly serverId: string;
  readonly serverUrl: string;
}

export function toPlace({ id, url }: AuthorizedServer, userId: string): Place {
  return { userId, serverId: id, serverUrl: url };
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
  const credentialPlace = ({ userId, serverId }: Pick<Place, 'userId' | 'serverId'>) => [
    'tool-credential',
    userId,
    serverId,
  ];

  const get = async (place: Place): Promise<Stored<Credential> | undefined> => {
    const record = await credentials.get(idOf(place.userId, place.serverId), { userId: place.userId });
    const value = record && open<Credential>(record.sealed, credentialPlace(place));
    const isFor = value?.serverUrl === place.serverUrl;
    return record === undefined || value === undefined || !isFor ? undefined : { record, value };
  };

  return {
    get,

    /** Replaces the credential of the user for the server. */
    async save(place: Place, value: Credential): Promise<void> {
      const { userId, serverId } = place;
      const id = idOf(userId, serverId);
      const sealed = seal(value, credentialPlace(place));
      // Random: a renewal of the tokens before must not match.
      const version = randomInt(MAX_VERSION);
      const fresh = { userId, serverId, sealed, renewingUntil: 0, version, createdAt: now() };
      await store.transaction(async (inner) => {
        const records = inner.collection(TOOL_CREDENTIALS);
        await records.take(id);
        await records.insert({ id, ...fresh });
      });
    },

    /** @param version the record is deleted only if it still has it. */
    async remove({ userId, serverId }: Place, version: number): Promise<void> {
      await credentials.take(idOf(userId, serverId), { userId, version });
    },

    /** Deletes the credential, also one of an earlier address. @returns undefined if there was none. */
    async withdraw(place: Omit<Place, 'serverUrl'>): Promise<{ value: Credential | undefined } | undefined> {
      const { userId, serverId } = place;
      const record = await credentials.take(idOf(userId, serverId), { userId });
      return record && { value: open<Credential>(record.sealed, credentialPlace(place)) };
    },

    /** Reserves the renewal for this process. @returns false if another one renews. */
    async reserve({ id, version }: ToolCredentialRecord): Promise<boolean> {
      const guard = { version, renewingUntil: { lte: now() } };
      return (await credentials.update(id, { renewingUntil: now() + RENEWAL_MS }, guard)) !== undefined;
    },

    release: ({ id, version }: ToolCredentialRecord) =>
      credentials.update(id, { renewingUntil: 0 }, { version }),

    /** Replaces the tokens. @returns false if the user has disconnected or connected again. */
    async renew(place: Place, { record, value }: Stored<Credential>): Promise<boolean> {
      const sealed = seal(value, credentialPlace(place));
      const patch = { sealed, renewingUntil: 0, version: record.version + 1 };
      return (await credentials.update(record.id, patch, { version: record.version })) !== undefined;
    },

    async begin(state: string, { userId, serverId }: Place, value: Begun): Promise<number> {
      const expired = await authorizations.find({ expiresAt: { lte: now() } }, { limit: SWEEP_BATCH });
      const surplus = await authorizations.find(
        { userId },
        {
          order: { field: 'expiresAt', direction: 'desc' },
          offset: MAX_BEGUN - 1,
          limit: SWEEP_BATCH,
        },
      );
      for (const { id } of [...expired, ...surplus]) await authorizations.take(id);
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
