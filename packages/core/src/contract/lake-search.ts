import type { Payer } from './call.ts';

/** The lakes and the limits of searches. Plain JSON. */
export interface LakeSearchLimits {
  readonly lakeIds: readonly string[];
  /** Maximum passages. */
  readonly limit: number;
  /** 0 to 1. */
  readonly minScore: number;
}

export interface LakeQuery extends LakeSearchLimits {
  readonly query: string;
  readonly userId: string;
  readonly payer: Payer;
  readonly requestId: string;
  /** Begins the keys of the holds. */
  readonly key: string;
}

/** A passage of a file. */
export interface FoundPassage {
  readonly fileId: string;
  readonly name: string;
  /** 0 to 1. */
  readonly score: number;
  readonly text: string;
}

/** Searches data lakes with the rights of a user. */
export interface LakeSearch {
  /**
   * Returns the position of the first lake that does not exist or that the user may not read; -1: none.
   * @throws ApiError 403 while data lakes are switched off.
   */
  findUnreadable(userId: string, lakeIds: readonly string[]): Promise<number>;
  /**
   * Returns the best passages, best first, and charges the embedding of the query. Lakes that the user can no longer read
   * are left out.
   * @throws ApiError 403, 422 `insufficient_credits`, `spend_cap_exceeded`; ProviderError
   */
  search(query: LakeQuery, options: { readonly signal: AbortSignal }): Promise<readonly FoundPassage[]>;
}
