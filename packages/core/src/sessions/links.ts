import { notFound } from '../errors.ts';
import { isId } from '../http/identifiers.ts';
import type { SessionSettings } from './records.ts';

/** What a session may point at. */
export type LinkKind = 'file' | 'artifact' | 'agent' | 'data lake';

/** Whether a user may read something of another capability. */
export interface LinkReader {
  isReadable(kind: LinkKind, id: string, userId: string): Promise<boolean>;
}

/** Knows nothing: every link is an unknown one. */
export const noLinks: LinkReader = { isReadable: async () => false };

const NAMES: Readonly<Record<LinkKind, string>> = {
  file: 'File',
  artifact: 'Artifact',
  agent: 'Agent',
  'data lake': 'Data lake',
};

/** @throws ApiError 404 for the first link the user cannot read, worded like an unknown one. */
export async function checkLinks(
  links: LinkReader,
  userId: string,
  { knowledgeIds = [], artifactIds = [], agentIds = [], dataLakeId }: SessionSettings,
): Promise<void> {
  const wanted: (readonly [LinkKind, string])[] = [
    ...knowledgeIds.map((id) => ['file', id] as const),
    ...artifactIds.map((id) => ['artifact', id] as const),
    ...agentIds.map((id) => ['agent', id] as const),
  ];
  if (dataLakeId !== undefined) wanted.push(['data lake', dataLakeId]);
  for (const [kind, id] of wanted) {
    if (!isId(id) || !(await links.isReadable(kind, id, userId))) throw notFound(NAMES[kind]);
  }
}
