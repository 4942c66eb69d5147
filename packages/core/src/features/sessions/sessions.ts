import type { SessionSettings } from '../../contract/session.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import { countCharacters } from '../../shared/characters.ts';
import { measureRecord } from '../storage/usage.ts';
import type { WireSession } from './contract.ts';
import type { SessionRecord } from './records.ts';

const NAME_FROM_MESSAGE = 60;
const MAX_NAME = 255;

export function newSession(
  services: { readonly clock: Clock; readonly ids: Ids },
  ownerId: string,
  name: string,
  settings: SessionSettings = {},
): SessionRecord {
  const now = services.clock.now();
  return { id: services.ids.next(), ownerId, name, firstCreated: now, lastUpdated: now, ...settings };
}

/** The session with its storage usage. */
export function measured(session: SessionRecord): SessionRecord & { readonly bytes: number } {
  const { bytes: _, ...rest } = session;
  return { ...rest, bytes: measureRecord(JSON.stringify(rest)) };
}

/** The fields that a copy of a session keeps. */
export function getSettings(session: SessionRecord): SessionSettings {
  return {
    knowledgeIds: session.knowledgeIds,
    artifactIds: session.artifactIds,
    agentIds: session.agentIds,
    tags: session.tags,
    forceKnowledgeRetrieval: session.forceKnowledgeRetrieval,
    retrievalTags: session.retrievalTags,
    includeLibraryFiles: session.includeLibraryFiles,
    dataLakeId: session.dataLakeId,
    systemPromptText: session.systemPromptText,
    enabledTools: session.enabledTools,
    disabledTools: session.disabledTools,
    temperature: session.temperature,
    maxToolCalls: session.maxToolCalls,
  };
}

/** The beginning of a message, as the name of a new session. */
export function nameFromMessage(message: string): string {
  const name = firstCharacters(message, NAME_FROM_MESSAGE);
  return name.trim() === '' ? 'New session' : name;
}

export function nameOfCopy(name: string): string {
  const suffix = ' (copy)';
  return firstCharacters(name, MAX_NAME - suffix.length) + suffix;
}

/** The first code points of a text. */
export function firstCharacters(text: string, most: number): string {
  if (text.length <= most) return text;
  if (countCharacters(text) === text.length) return text.slice(0, most);
  return [...text.slice(0, 2 * most)].slice(0, most).join('');
}

export function toWireSession(session: SessionRecord): WireSession {
  return {
    id: session.id,
    name: session.name,
    userId: session.ownerId,
    knowledgeIds: [...(session.knowledgeIds ?? [])],
    artifactIds: [...(session.artifactIds ?? [])],
    agentIds: [...(session.agentIds ?? [])],
    dataLakeId: session.dataLakeId ?? null,
    tags: [...(session.tags ?? [])],
    ...(session.summary !== undefined && { summary: session.summary }),
    projectId: session.projectId ?? null,
    lastUsedModel: session.lastUsedModel ?? null,
    forceKnowledgeRetrieval: session.forceKnowledgeRetrieval ?? false,
    retrievalTags: [...(session.retrievalTags ?? [])],
    includeLibraryFiles: session.includeLibraryFiles ?? false,
    firstCreated: new Date(session.firstCreated).toISOString(),
    lastUpdated: new Date(session.lastUpdated).toISOString(),
  };
}
