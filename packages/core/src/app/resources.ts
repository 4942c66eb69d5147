import { canWrite } from '../access/access.ts';
import { requireAgents } from '../features/agents/agents.ts';
import { applicationAgent } from '../features/agents/application-contract.ts';
import type { AgentReach } from '../features/agents/reach.ts';
import { AGENTS } from '../features/agents/records.ts';
import { toApplicationAgent } from '../features/agents/wire.ts';
import {
  type ArtifactReaderServices,
  readableArtifact,
  requireArtifacts,
} from '../features/artifacts/access.ts';
import { readContent } from '../features/artifacts/artifacts.ts';
import { artifact } from '../features/artifacts/contract.ts';
import { ARTIFACTS, toWireArtifact } from '../features/artifacts/records.ts';
import { file } from '../features/files/contract.ts';
import type { FileLibrary } from '../features/files/library.ts';
import { FILES } from '../features/files/records.ts';
import { toWireFile } from '../features/files/wire.ts';
import { organization } from '../features/organizations/contract.ts';
import { memberJoined, memberLeft } from '../features/organizations/members.ts';
import { visibleTo } from '../features/organizations/membership.ts';
import { toWireOrganization } from '../features/organizations/organizations.ts';
import { ORGANIZATIONS } from '../features/organizations/records.ts';
import { project } from '../features/projects/contract.ts';
import { PROJECTS, toWireProject } from '../features/projects/records.ts';
import { session } from '../features/sessions/contract.ts';
import { SESSIONS } from '../features/sessions/records.ts';
import { toWireSession } from '../features/sessions/sessions.ts';
import { defineResourceKind } from '../features/sharing/contract.ts';
import { defineResource, type Resource } from '../features/sharing/resource.ts';
import type { AdminSettingsReader } from '../operations/admin-settings.ts';
import type { Store } from '../ports/store.ts';

/** Described once per process, because schemas are costly to create. */
const PROJECT = defineResourceKind('project', 'Project', project);
const SESSION = defineResourceKind('session', 'Session', session);
const FILE = defineResourceKind('file', 'File', file);
const AGENT = defineResourceKind('agent', 'Agent', applicationAgent);
const ARTIFACT = defineResourceKind('artifact', 'Artifact', artifact);
const ORGANIZATION = defineResourceKind('organization', 'Organization', organization);

export interface ResourcesServices extends ArtifactReaderServices {
  readonly store: Store;
  readonly adminSettings: AdminSettingsReader;
  readonly library: FileLibrary;
  readonly agentReach: AgentReach;
}

/** All shareable resource types, one entry each. */
export function createResources(services: ResourcesServices): readonly Resource[] {
  const { store } = services;
  return [
    defineResource(store, PROJECT, {
      collection: PROJECTS,
      getName: ({ name }) => name,
      toWire: toWireProject,
    }),
    defineResource(store, SESSION, {
      collection: SESSIONS,
      getName: ({ name }) => name,
      toWire: toWireSession,
    }),
    defineResource(store, FILE, {
      collection: FILES,
      getName: ({ name }) => name,
      toWire: async (record, mountPath, { userId }) =>
        toWireFile(record, await services.library.link(record, mountPath), userId),
    }),
    defineResource(store, AGENT, {
      collection: AGENTS,
      getName: ({ name }) => name,
      async find({ userId }, id) {
        await requireAgents(services.adminSettings);
        return services.agentReach.find(userId, id);
      },
      toWire: async (record) =>
        toApplicationAgent(record, (await services.adminSettings.current()).AgentPublishing),
    }),
    defineResource(store, ARTIFACT, {
      collection: ARTIFACTS,
      getName: ({ title }) => title,
      async find({ userId }, id) {
        await requireArtifacts(services.adminSettings);
        return readableArtifact(services, userId, id);
      },
      toWire: async (record) => toWireArtifact(record, await readContent(store, record)),
    }),
    defineResource(store, ORGANIZATION, {
      collection: ORGANIZATIONS,
      getName: ({ name }) => name,
      find: (caller, id) => store.collection(ORGANIZATIONS).get(id, visibleTo(caller)),
      toWire: toWireOrganization,
      canInvite: canWrite,
      joined: memberJoined,
      left: memberLeft,
    }),
  ];
}
