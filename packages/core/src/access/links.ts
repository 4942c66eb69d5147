import { isId } from '../contract/identifiers.ts';
import { notFound } from '../shared/errors.ts';

const LINK_KINDS = ['file', 'artifact', 'agent', 'data lake'] as const;

/** The resource types that a session can reference. */
export type LinkKind = (typeof LINK_KINDS)[number];

/** Ids of referenced resources, by type. */
export interface LinkedIds {
  readonly knowledgeIds?: readonly string[] | undefined;
  readonly artifactIds?: readonly string[] | undefined;
  readonly agentIds?: readonly string[] | undefined;
  /** Null removes the data lake. */
  readonly dataLakeId?: string | null | undefined;
}

/** Checks which referenced resources of other features a user can read. */
export interface LinkReader {
  /**
   * Returns the ids that the user can read. Ids are well-formed. The number of store calls does not depend on the
   * number of ids.
   */
  findReadable(kind: LinkKind, ids: readonly string[], userId: string): Promise<ReadonlySet<string>>;
  /** Returns the ids that exist, for all users. Up to 1,000 well-formed ids, in one store call. */
  findExisting(kind: LinkKind, ids: readonly string[]): Promise<ReadonlySet<string>>;
}

/** Treats every link as unknown. */
export const noLinks: LinkReader = {
  findReadable: async () => new Set(),
  findExisting: async () => new Set(),
};

const NAMES: Readonly<Record<LinkKind, string>> = {
  file: 'File',
  artifact: 'Artifact',
  agent: 'Agent',
  'data lake': 'Data lake',
};

/** The ids of each kind. */
export function toLinks({
  knowledgeIds = [],
  artifactIds = [],
  agentIds = [],
  dataLakeId,
}: LinkedIds): Readonly<Record<LinkKind, readonly string[]>> {
  return {
    file: knowledgeIds,
    artifact: artifactIds,
    agent: agentIds,
    'data lake': typeof dataLakeId === 'string' ? [dataLakeId] : [],
  };
}

/**
 * @throws ApiError 404 for the first link that the user cannot read, with its id; the message is the same as for an
 * unknown id.
 */
export async function checkLinks(links: LinkReader, userId: string, wanted: LinkedIds): Promise<void> {
  const ids = toLinks(wanted);
  for (const kind of LINK_KINDS) {
    if (ids[kind].length === 0) continue;
    const readable = await links.findReadable(kind, ids[kind].filter(isId), userId);
    const missing = ids[kind].find((id) => !readable.has(id));
    // Text that is no id may be anything, and is not quoted.
    if (missing !== undefined) throw notFound(isId(missing) ? `${NAMES[kind]} ${missing}` : NAMES[kind]);
  }
}

/**
 * The list of links after the change of a user: the wanted links that are in the list or were checked, and those that
 * the user may not remove.
 */
export function mergeLinks(merge: {
  readonly current: readonly string[];
  readonly wanted: readonly string[];
  /** New links that the user can read. */
  readonly added: readonly string[];
  readonly mayRemove: (id: string) => boolean;
}): string[] {
  const { current, wanted, added, mayRemove } = merge;
  const known = new Set([...current, ...added]);
  const kept = wanted.filter((id) => known.has(id));
  const named = new Set(kept);
  return [...kept, ...current.filter((id) => !named.has(id) && !mayRemove(id))];
}

/** The ids of some records. */
export function toIdSet(records: readonly { readonly id: string }[]): ReadonlySet<string> {
  return new Set(records.map(({ id }) => id));
}
