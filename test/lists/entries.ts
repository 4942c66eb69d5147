import type { UserRecord } from '@questline/core';
import { AGENTS, ARTIFACTS, FILES, REGISTRATION_INVITES, SESSIONS } from '@questline/core/internal';
import { getSample, type ListField } from '../support/list-fields.ts';
import { NOW, type TestApp } from '../support/test-app.ts';

type Maker = (app: TestApp, owner: UserRecord, id: string, at: number) => Promise<unknown>;

const makeFile: Maker = ({ services: { store } }, owner, id) =>
  store.collection(FILES).insert({
    id,
    ownerId: owner.id,
    name: 'notes.txt',
    mimeType: 'text/plain',
    size: 5,
    status: 'clean',
    source: 'upload',
    createdAt: NOW,
  });

const makeSession: Maker = ({ services: { store } }, owner, id) =>
  store
    .collection(SESSIONS)
    .insert({ id, ownerId: owner.id, name: 'Notes', firstCreated: NOW, lastUpdated: NOW });

const makeArtifact: Maker = ({ services: { store } }, owner, id, at) =>
  store.collection(ARTIFACTS).insert({
    id,
    ownerId: owner.id,
    type: 'code',
    title: 'Loop',
    version: 1,
    status: 'draft',
    tags: [],
    visibility: at % 2 === 0 ? 'private' : 'public',
    createdAt: NOW,
    updatedAt: NOW,
  });

const makeAgent: Maker = ({ services: { store } }, owner, id) =>
  store.collection(AGENTS).insert({
    id,
    ownerId: owner.id,
    name: `Muse ${id}`,
    description: '',
    triggerWords: ['@muse'],
    isPublic: false,
    personality: {
      majorMotivation: '',
      minorMotivation: '',
      characterFlaw: '',
      uniqueQuirk: '',
      responseStyle: '',
    },
    capabilities: [],
    createdAt: NOW,
    updatedAt: NOW,
  });

const makeInvite: Maker = ({ services: { store } }, owner, id) =>
  store.collection(REGISTRATION_INVITES).insert({
    id,
    codeHash: id,
    usesLeft: 1,
    startingCredits: 0,
    createdBy: owner.id,
    createdAt: NOW,
  });

/** Creates the records that the IDs of a field refer to, by field name. */
const MAKERS: Readonly<Record<string, Maker>> = {
  knowledgeIds: makeFile,
  fileIds: makeFile,
  file_ids: makeFile,
  session_file_ids: makeFile,
  referenceImageFileIds: makeFile,
  session_ids: makeSession,
  artifactIds: makeArtifact,
  agentIds: makeAgent,
  ids: makeInvite,
};

/** Entries for a list; the records that its IDs refer to exist and belong to the app's user. */
export async function createEntries(app: TestApp, { name, node }: ListField, length: number) {
  const make = MAKERS[name];
  const entries: unknown[] = [];
  for (let at = 0; at < length; at += 1) {
    // An enum may have fewer values than the list allows.
    const names = node.items?.enum;
    if (names !== undefined) {
      entries.push(names[at % names.length]);
      continue;
    }
    if (make === undefined) {
      entries.push(toEntry(node.items === undefined ? '' : getSample(node.items), name, at));
      continue;
    }
    const id = app.services.ids.next();
    await make(app, app.user, id, at);
    entries.push(id);
  }
  return entries;
}

/** Each entry is distinct, because duplicates are removed. */
function toEntry(sample: unknown, name: string, at: number): unknown {
  if (typeof sample === 'string')
    return at === 0 && /tools$/i.test(name) ? 'delegate_to_agent' : `${name}${at}`;
  if (typeof sample === 'object' && sample !== null && 'name' in sample) return { ...sample, name: `${at}` };
  return sample;
}
