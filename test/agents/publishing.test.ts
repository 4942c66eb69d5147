import { describe, expect, it } from 'vitest';
import { addAgent } from '../support/agents.ts';
import { createChatApp } from '../support/chat.ts';
import { adminToken } from '../support/sign-in.ts';

const GRACE = 'a'.repeat(24);

async function createStage() {
  const app = await createChatApp();
  const owner = await app.addUser('owner@example.com');
  const reader = await app.addUser('reader@example.com');
  const asOwner = { credential: await app.token(owner) };
  const asReader = { credential: await app.token(reader) };
  const asAdmin = { credential: await adminToken(app) };
  const path = (id: string) => `/api/agents/${id}` as const;
  const create = async (more: object = {}, as: { credential: string } = asOwner) =>
    (await app.json('POST', '/api/agents', { ...as, body: { name: 'Grace', isPublic: true, ...more } })).body;
  const approve = ({ id, updatedAt }: { id: string; updatedAt: string }) =>
    app.json('POST', `${path(id)}/approve`, { ...asAdmin, body: { updatedAt } });
  const submissions = async (state = 'pending') =>
    (await app.json('GET', `/api/agents/submissions?state=${state}`, asAdmin)).body.agents.map(
      ({ id }: { id: string }) => id,
    );
  const isSeen = async (id: string) => (await app.json('GET', path(id), asReader)).status === 200;
  const set = (value: string) =>
    app.json('PUT', '/api/settings/update', { ...asAdmin, body: { key: 'AgentPublishing', value } });
  return { app, owner, asOwner, asReader, asAdmin, path, create, approve, submissions, isSeen, set };
}

describe('public agent', () => {
  it('is pending until an administrator approves it', async () => {
    const { create, approve, submissions, isSeen } = await createStage();
    const agent = await create();
    expect(agent).toMatchObject({ isPublic: true, publication: 'pending' });
    expect([await submissions(), await isSeen(agent.id)]).toEqual([[agent.id], false]);
    expect((await approve(agent)).body.publication).toBe('published');
    expect([await submissions(), await submissions('approved'), await isSeen(agent.id)]).toEqual([
      [],
      [agent.id],
      true,
    ]);
  });

  it('is shown to administrators with everything that a model receives', async () => {
    const { app, owner, asAdmin } = await createStage();
    const own = {
      systemPrompt: 'Count.',
      preferredModel: 'scripted',
      allowedTools: ['calculator', 'roll_dice'],
      deniedTools: ['roll_dice'],
    };
    await addAgent(app, {
      ...{ id: GRACE, name: 'Grace', ownerId: owner.id, isPublic: true, publication: undefined },
      ...own,
    });
    const { body } = await app.json('GET', '/api/agents/submissions?state=pending', asAdmin);
    expect(body.agents).toMatchObject([{ id: GRACE, ...own }]);
  });

  it('is approved only in the version that was read', async () => {
    const { app, asOwner, path, create, approve, isSeen } = await createStage();
    const agent = await create();
    await app.clock.advance(1);
    await app.json('PUT', path(agent.id), { ...asOwner, body: { description: 'Something else.' } });
    expect((await approve(agent)).status).toBe(409);
    expect(await isSeen(agent.id)).toBe(false);
  });

  it('keeps its approval when it is written back unchanged', async () => {
    const { app, asOwner, path, create, approve } = await createStage();
    const agent = await create({ description: 'Counts.', triggerWords: ['grace'] });
    await approve(agent);
    const { body } = await app.json('PUT', path(agent.id), { ...asOwner, body: agent });
    expect(body.publication).toBe('published');
  });

  it('stays rejected until its owner submits it again', async () => {
    const { app, asOwner, asAdmin, path, create, approve, submissions, isSeen, set } = await createStage();
    const agent = await create();
    await approve(agent);
    await app.json('POST', `${path(agent.id)}/refuse`, asAdmin);
    await set('open');
    expect(await isSeen(agent.id)).toBe(false);
    const put = async (body: object) => (await app.json('PUT', path(agent.id), { ...asOwner, body })).body;
    expect((await put({ description: 'Better.' })).publication).toBe('refused');
    await set('approval');
    expect((await put({ isPublic: true })).publication).toBe('pending');
    expect(await submissions()).toEqual([agent.id]);
  });

  it('is published at once for an administrator', async () => {
    const { create, asAdmin, isSeen } = await createStage();
    const agent = await create({}, asAdmin);
    expect([agent.publication, await isSeen(agent.id)]).toEqual(['published', true]);
  });

  it('is public at once while the setting allows it, and pending again afterwards', async () => {
    const { create, isSeen, set } = await createStage();
    await set('open');
    const agent = await create();
    expect([agent.publication, await isSeen(agent.id)]).toEqual(['published', true]);
    await set('approval');
    expect(await isSeen(agent.id)).toBe(false);
  });

  it('is pending when an earlier version stored it', async () => {
    const { app, owner, submissions, isSeen } = await createStage();
    await addAgent(app, {
      id: GRACE,
      name: 'Grace',
      ownerId: owner.id,
      isPublic: true,
      publication: undefined,
    });
    expect([await submissions(), await isSeen(GRACE)]).toEqual([[GRACE], false]);
  });
});
