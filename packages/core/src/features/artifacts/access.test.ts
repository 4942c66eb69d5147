import { createMemoryStore } from '@questline/core/memory';
import { describe, expect, it } from 'vitest';
import { noLinks } from '../../access/links.ts';
import { USERS, type UserRecord } from '../../identity/records.ts';
import { ORGANIZATIONS, type OrganizationRecord } from '../organizations/records.ts';
import { PROJECTS, type ProjectRecord } from '../projects/records.ts';
import { readableArtifact, withArtifactLinks } from './access.ts';
import { ARTIFACTS, type ArtifactRecord } from './records.ts';

const READER = 'reader';
const OWNER = 'owner';

/** More than one call of the store returns; sorted before all others. */
const many = Array.from({ length: 1000 }, (_, at) => `0-${at}`);

function setUp() {
  const store = createMemoryStore();
  const artifact = (id: string, fields: Partial<ArtifactRecord>) =>
    store.collection(ARTIFACTS).insert({ id, ownerId: OWNER, ...fields } as ArtifactRecord);
  const project = (id: string) =>
    store.collection(PROJECTS).insert({ id, ownerId: READER, name: id, nameKey: id } as ProjectRecord);
  const organization = (id: string, ownerId: string) =>
    store.collection(ORGANIZATIONS).insert({
      id,
      slug: id,
      ownerId,
      readerIds: [READER],
    } as Partial<OrganizationRecord> as OrganizationRecord);
  const user = (id: string, organizationId: string | null) =>
    store.collection(USERS).insert({ id, email: id, organizationId } as UserRecord);
  const read = async (id: string) => (await readableArtifact({ store }, READER, id))?.id;
  return { store, artifact, project, organization, user, read };
}

describe('access to an artifact', () => {
  it('is to the one with the id, not to another that the user may see', async () => {
    const { artifact, project, read } = setUp();
    await project('p');
    await artifact('open', { visibility: 'project', projectId: 'p' });
    await artifact('hidden', { visibility: 'private' });
    expect([await read('open'), await read('hidden'), await read('none')]).toEqual([
      'open',
      undefined,
      undefined,
    ]);
  });

  it('by its project exists however many projects the user has', async () => {
    const { artifact, project, read } = setUp();
    for (const id of [...many, 'p']) await project(id);
    await artifact('a', { visibility: 'project', projectId: 'p' });
    expect(await read('a')).toBe('a');
  });

  it('by the organization of its owner exists however many users and organizations there are', async () => {
    const { artifact, organization, user, read } = setUp();
    for (const id of many) await user(id, null);
    for (const id of many) await organization(id, 'another');
    await user(OWNER, 'o');
    await organization('o', OWNER);
    await artifact('a', { visibility: 'organization' });
    expect(await read('a')).toBe('a');
  });

  it('is checked for those of a session only', async () => {
    const { store, artifact } = setUp();
    for (const id of ['a', 'b']) await artifact(id, { visibility: 'public' });
    const links = withArtifactLinks({ store }, noLinks);
    const wanted = ['b', 'none'];
    expect(await links.findExisting('artifact', wanted)).toEqual(new Set(['b']));
    expect(await links.findReadable('artifact', wanted, READER)).toEqual(new Set(['b']));
  });
});
