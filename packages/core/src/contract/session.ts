/** Editable fields of a session. Absent: empty, off or unset. */
export interface SessionSettings {
  /** File ids. */
  readonly knowledgeIds?: readonly string[] | undefined;
  readonly artifactIds?: readonly string[] | undefined;
  readonly agentIds?: readonly string[] | undefined;
  readonly tags?: readonly { readonly name: string; readonly strength: number }[] | undefined;
  readonly forceKnowledgeRetrieval?: boolean | undefined;
  readonly retrievalTags?: readonly string[] | undefined;
  readonly includeLibraryFiles?: boolean | undefined;
  readonly dataLakeId?: string | undefined;
  /** Write-only. */
  readonly systemPromptText?: string | undefined;
  /** Ids of tools that this session always offers. */
  readonly enabledTools?: readonly string[] | undefined;
  /** Ids of tools that this session never offers. */
  readonly disabledTools?: readonly string[] | undefined;
  readonly temperature?: number | undefined;
  /** Maximum tool calls per turn. */
  readonly maxToolCalls?: number | undefined;
}

/** The fields of a session that other features can read. */
export interface SessionView extends SessionSettings {
  readonly id: string;
  readonly ownerId: string;
  readonly name: string;
  readonly projectId?: string;
}

/** Called after a session changed. `userId`: the user who changed it. */
export type SessionListener = (userId: string, before: SessionView, after: SessionView) => Promise<void>;
