import { describe, expect, it } from 'vitest';
import { NOW, ORGANIZATION, PAYER, PLAIN, S, setUp, UNKNOWN } from '../../../test/chat-acceptance.ts';
import { SESSIONS } from '../sessions/records.ts';
import { STORAGE_USAGE } from '../storage/usage.ts';

describe('an accepted message', () => {
  it.each([false, true])(
    'is acknowledged with where to poll, with settings that load: %s',
    async (isLate) => {
      const { run } = await setUp({ isLate });
      const { answer } = await run();
      const url = `/ai/api/v1/quests/${answer.id}`;
      expect(answer).toStrictEqual({
        id: expect.stringMatching(/^[0-9a-f]{24}$/),
        ...{
          status: 'queued',
          message_received: true,
          timestamp: '2026-11-22T00:00:00.000Z',
          model: 'plain',
        },
        tracking_info: { quest_id: answer.id, check_status_url: url, poll_url: url },
        sessionId: S,
      });
    },
  );

  it('is stored as a quest, whether with its lease or without', async () => {
    const { run, storeQuest, claimed } = await setUp();
    const quest = await storeQuest();
    expect(quest).toMatchObject({
      ...{ kind: 'chat', sessionId: S, ownerId: 'ada', status: 'pending', type: 'message' },
      ...{ createdAt: NOW, updatedAt: NOW, liveSince: NOW, request: PLAIN },
    });
    expect(quest.request).toStrictEqual(PLAIN);
    expect(quest).not.toHaveProperty('followedAt');
    const work = await run();
    expect(JSON.stringify(work.toWrites?.())).toContain('"pending"');
    expect(claimed).toEqual([]);
    const lease = { id: 'job', fence: 3 };
    const writes = JSON.stringify(work.toWrites?.(lease as never));
    expect(writes).toContain('"running"');
    expect(claimed).toMatchObject([
      [
        lease,
        {
          quest: { id: work.answer.id, status: 'running', jobId: 'job', fence: 3 },
          input: { session: { id: S } },
        },
      ],
    ]);
    expect(claimed[0]?.[1]).not.toHaveProperty('input.newest');
  });

  it('may begin a session, which has no earlier messages', async () => {
    const { run, storeQuest, claimed, services } = await setUp();
    const body = { sessionId: undefined, newConversation: true };
    const { sessionId } = await storeQuest(body);
    const session = await services.store.collection(SESSIONS).get(sessionId);
    expect(session).toMatchObject({ ownerId: 'ada', name: 'Hi', lastUsedModel: 'plain' });
    const work = await run(body);
    expect(work.toWrites?.({ id: 'job', fence: 1 } as never)).toHaveLength(2);
    expect(claimed).toMatchObject([[{}, { input: { newest: [] } }]]);
    expect((await run()).toWrites?.()).toHaveLength(1);
  });

  it('may have a plan of its page', async () => {
    const { storeQuest, run, services } = await setUp();
    const replaces = { from: { id: 'a', createdAt: 1 }, to: { id: 'b', createdAt: 2 } };
    const ids = { questId: 'c'.repeat(24), newSessionId: 'd'.repeat(24) };
    const plan = { ...ids, pageId: 'page', isFollowed: true, isRepeated: true, replaces } as const;
    const quest = await storeQuest({}, plan);
    expect(quest).toMatchObject({ id: ids.questId, sessionId: S, followedAt: NOW });
    expect(quest.request).toStrictEqual({ ...PLAIN, pageId: 'page', isRepeated: true, replaces });
    const fresh = { sessionId: undefined, newConversation: true };
    const begun = await run(fresh, { ...plan, questId: 'f'.repeat(24) });
    expect(begun.answer).toMatchObject({ sessionId: ids.newSessionId });
    await begun.write(services.store);
    const session = await services.store.collection(SESSIONS).get(ids.newSessionId);
    expect(session).toMatchObject({ ownerId: 'ada', name: 'Hi' });
    const plain = { ...ids, questId: 'e'.repeat(24), pageId: undefined, isFollowed: false };
    expect((await storeQuest({}, plain)).request).toStrictEqual(PLAIN);
  });

  it('is refused with a model that has no price while credits are enforced', async () => {
    const { run } = await setUp();
    await expect(run({ model: 'free' })).rejects.toMatchObject({ status: 422, code: 'model_unavailable' });
    const { toRequest } = await setUp({ settings: { enforceCredits: false } });
    expect(await toRequest({ model: 'free' })).toMatchObject({ model: 'free' });
  });

  it('is refused when the quota of its owner is used up', async () => {
    const { run, services } = await setUp({ quota: 1 });
    await services.store.collection(STORAGE_USAGE).insert({ id: 'ada:sessions', bytes: 1 });
    const work = await run();
    await expect(work.write(services.store)).rejects.toMatchObject({ code: 'limit_exceeded' });
    expect(work.toWrites?.()).toHaveLength(2);
    expect(work.toWrites?.({ id: 'job', fence: 1 } as never)).toHaveLength(2);
  });
});

describe('the payer of a message', () => {
  it('is the caller or a named organization, in the project of the session', async () => {
    const { toRequest, payers } = await setUp({ session: { projectId: 'project' } });
    expect((await toRequest()).payer).toEqual({ ...PAYER, projectId: 'project' });
    const account = `organization:${ORGANIZATION}`;
    const { payer } = await toRequest({ organizationId: ORGANIZATION });
    expect(payer).toEqual({ ...PAYER, account, projectId: 'project' });
    expect(payers).toMatchObject([PAYER, { account }]);
  });

  it('is no organization of others', async () => {
    const { run } = await setUp();
    const refused = { status: 404, message: 'Organization not found' };
    await expect(run({ organizationId: UNKNOWN })).rejects.toMatchObject(refused);
  });
});
