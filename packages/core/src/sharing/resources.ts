import { requireAgents } from '../agents/agents.ts';
import { applicationAgent } from '../agents/application-contract.ts';
import { AGENTS, canUseAgent } from '../agents/records.ts';
import { toApplicationAgent } from '../agents/wire.ts';
import { type ArtifactReaderServices, readableArtifact, requireArtifacts } from '../artifacts/access.ts';
import { contentOf } from '../artifacts/artifacts.ts';
import { artifact } from '../artifacts/contract.ts';
import { ARTIFACTS, toWireArtifact } from '../artifacts/records.ts';
import { file } from '../files/contract.ts';
import type { FileLibrary } from '../files/library.ts';
import { FILES } from '../files/records.ts';
import { toWireFile } from '../files/wire.ts';
import { organization } from '../organizations/contract.ts';
import { memberJoined, memberLeft } from '../organizations/members.ts';
import { visibleTo } from '../organizations/membership.ts';
import { toWireOrganization } from '../organizations/organizations.ts';
import { ORGANIZATIONS } from '../organizations/records.ts';
import type { Store } from '../ports/store.ts';
import { project } from '../projects/contract.ts';
import { PROJECTS, toWireProject } from '../projects/records.ts';
import { session } from '../sessions/contract.ts';
import { SESSIONS } from '../sessions/records.ts';
import { toWireSession } from '../sessions/sessions.ts';
import type { Switches } from '../settings/admin.ts';
import { canWrite } from './access.ts';
import { defineResource, type Resource } from './resource.ts';

export interface ResourcesServices extends ArtifactReaderServices {
  readonly store: Store;
  readonly switches: Switches;
  readonly library: FileLibrary;
}

/** Every kind of thing that can be shared: one entry each. */
export function resourcesOf(services: ResourcesServices): readonly Resource[] {
  const { store } = services;
  return [
    defineResource(store, {
      type: 'project',
      subject: 'Project',
      schema: project,
      collection: PROJECTS,
      toWire: toWireProject,
    }),
    defineResource(store, {
      type: 'session',
      subject: 'Session',
      schema: session,
      collection: SESSIONS,
      toWire: toWireSession,
    }),
    defineResource(store, {
      type: 'file',
      subject: 'File',
      schema: file,
      collection: FILES,
      toWire: async (record, mountPath) => toWireFile(record, await services.library.link(record, mountPath)),
    }),
    defineResource(store, {
      type: 'agent',
      subject: 'Agent',
      schema: applicationAgent,
      collection: AGENTS,
      async find({ userId }, id) {
        await requireAgents(services.switches);
        return store.collection(AGENTS).get(id, canUseAgent(userId));
      },
      toWire: toApplicationAgent,
    }),
    defineResource(store, {
      type: 'artifact',
      subject: 'Artifact',
      schema: artifact,
      collection: ARTIFACTS,
      async find({ userId }, id) {
        await requireArtifacts(services.switches);
        return readableArtifact(services, userId, id);
      },
      toWire: async (record) => toWireArtifact(record, await contentOf(store, record)),
    }),
    defineResource(store, {
      type: 'organization',
      subject: 'Organization',
      schema: organization,
      collection: ORGANIZATIONS,
      find: (caller, id) => store.collection(ORGANIZATIONS).get(id, visibleTo(caller)),
      toWire: toWireOrganization,
      canInvite: canWrite,
      joined: memberJoined,
      left: memberLeft,
    }),
  ];
}
