import { defineCollection, type StoredRecord } from '../../ports/store.ts';

/** The access of a user to a tool server. Its id is a hash of both. */
export interface ToolCredentialRecord extends StoredRecord {
  readonly userId: string;
  readonly serverId: string;
  /** The tokens and where they came from, encrypted and bound to user and server. */
  readonly sealed: string;
  /** A process renews the tokens until then. */
  readonly renewingUntil: number;
  /** Changes with the tokens. */
  readonly version: number;
  readonly createdAt: number;
}

export const TOOL_CREDENTIALS = defineCollection<ToolCredentialRecord>({
  name: 'tool_credentials',
  secretFields: { sealed: true },
  columns: { userId: 'text', renewingUntil: 'integer', version: 'integer' },
  unique: [],
  indexes: [['userId']],
});

/** An authorization that a user has begun. Its id is the hash of the state. */
export interface ToolAuthorizationRecord extends StoredRecord {
  readonly userId: string;
  readonly serverId: string;
  /** The code verifier and what was discovered, encrypted and bound to the user and the state. */
  readonly sealed: string;
  readonly expiresAt: number;
}

export const TOOL_AUTHORIZATIONS = defineCollection<ToolAuthorizationRecord>({
  name: 'tool_authorizations',
  secretFields: { sealed: true },
  columns: { userId: 'text', expiresAt: 'integer' },
  unique: [],
  indexes: [['userId'], ['expiresAt']],
});

/** The registration of this deployment at an authorization server. Its id is a hash of the servers. */
export interface ToolClientRecord extends StoredRecord {
  /** The client id and its secret, encrypted. */
  readonly sealed: string;
}

export const TOOL_CLIENTS = defineCollection<ToolClientRecord>({
  name: 'tool_clients',
  secretFields: { sealed: true },
  columns: {},
  unique: [],
  indexes: [],
});
