import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { delayed } from '../../../test/delayed.ts';
import type { Call } from '../../contract/call.ts';
import { createMemoryStore } from '../../memory/store.ts';
import type { CatalogueEntry, ModelCatalogue } from '../../models/catalogue.ts';
import type { ModelInfo } from '../../ports/models.ts';
import { QUESTS, type QuestRecord } from '../../runs/records.ts';
import { SESSIONS, type SessionRecord } from '../sessions/records.ts';
import { acceptImage, type ImageInput } from './accept.ts';
import { IMAGE_EDIT, IMAGE_GENERATION } from './request.ts';

const SESSION = 'a'.repeat(24);
const toEntry = (id: string, more: object = {}) =>
  ({
    info: { id, name: id, type: 'image' },
    provider: { id: 'vendor', image: () => undefined },
    prices: {},
    ...more,
  }) as unknown as CatalogueEntry;
const ENTRIES = [
  toEntry('painter'),
  toEntry('free', { prices: undefined }),
  toEntry('writer', { info: { id: 'writer', type: 'text' } }),
  toEntry('mute', { provider: { id: 'vendor' } }),
];
const CALL = {
  ...{ requestId: 'r', mountPath: '/ai' },
  caller: { kind: 'token', userId: 'ada', isAdmin: false },
} as unknown as Call;

/** A session of `ada` with a project, whose earlier quests have these kinds. */
async function setUp(kinds: readonly string[] = [], enforceCredits = true) {
  const clock = createFakeClock(1000);
  const store = createMemoryStore();
  const session = { id: SESSION, ownerId: 'ada', name: 's', projectId: 'p', lastUpdated: 1 };
  await store.collection(SESSIONS).insert(session as Partial<SessionRecord> as SessionRecord);
  for (const [at, kind] of kinds.entries())
    await store.collection(QUESTS).insert({ id: `q${at}`, sessionId: SESSION, kind } as QuestRecord);
  await store.collection(QUESTS).insert({ id: 'z', sessionId: 'other', kind: IMAGE_EDIT } as QuestRecord);
  const catalogue = {
    find: (id) => ENTRIES.find(({ info }) => info.id === id),
    isDisabled: (id) => id === 'off',
    findRetired: (id) => (id === 'old' ? ({ deprecationDate: '2026-01-01' } as ModelInfo) : undefined),
  } as Partial<ModelCatalogue> as ModelCatalogue;
  const services = {
    ...{ store: delayed(store), clock, ids: createFakeIds(), storageQuotas: {} as never },
    getCatalogue: async () => catalogue,
    adminSettings: { current: async () => ({ enforceCredits }) } as never,
    isMember: async () => false,
    modelLists: {} as never,
  };
  const input: ImageInput = {
    ...{ kind: IMAGE_GENERATION, model: 'painter', sessionId: SESSION, organizationId: undefined },
    request: { options: { prompt: 'A panda', count: 1 }, referenceFileIds: [] },
  };
  const accept = (more: Partial<ImageInput> = {}) => acceptImage(services, { ...input, ...more }, CALL);
  return { store, services, input, accept };
}

const intentOf = async (kinds: readonly string[], request: Partial<ImageInput['request']> = {}) => {
  const { accept, input } = await setUp(kinds);
  return (await accept({ request: { ...input.request, ...request } })).answer.intent;
};

describe('accepted image request', () => {
  it('is answered with its quest, which is stored afterwards', async () => {
    const { store, services, accept } = await setUp();
    const { answer, write } = await accept();
    const { id } = answer;
    expect(answer).toEqual({
      ...{ id, sessionId: SESSION, status: 'queued', originalPrompt: 'A panda', enhancedPrompt: 'A panda' },
      ...{ promptWasEnhanced: false, intent: 'fresh', session: { id: SESSION } },
      quest: { id, sessionId: SESSION, status: 'pending' },
      tracking_info: {
        quest_id: id,
        check_status_url: `/ai/api/v1/quests/${id}`,
        poll_url: `/ai/api/v1/quests/${id}`,
      },
    });
    expect(await store.collection(QUESTS).get(id)).toBeUndefined();
    await write(services.store);
    expect(await store.collection(QUESTS).get(id)).toMatchObject({
      ...{ kind: IMAGE_GENERATION, sessionId: SESSION, ownerId: 'ada', status: 'pending', createdAt: 1000 },
      request: {
        ...{ model: 'painter', requestId: 'r', options: { prompt: 'A panda', count: 1 } },
        payer: { account: 'user:ada', userId: 'ada', projectId: 'p' },
      },
    });
  });

  it('begins a session that is named by its prompt, with the model', async () => {
    const { store, services, accept } = await setUp();
    const { answer, write } = await accept({ sessionId: undefined, newConversation: true });
    expect([answer.sessionId === SESSION, answer.intent]).toEqual([false, 'fresh']);
    await write(services.store);
    expect(await store.collection(SESSIONS).get(answer.sessionId)).toMatchObject({
      ...{ name: 'A panda', lastUsedModel: 'painter' },
    });
  });

  it('writes the same in one step', async () => {
    const { accept } = await setUp();
    const { answer, toWrites } = await accept();
    expect(toWrites?.().map((one) => [one.do, 'id' in one ? one.id : undefined])).toContainEqual([
      ...['insert', answer.id],
    ]);
  });

  it('continues an image, or starts from one', async () => {
    expect(await intentOf([])).toBe('fresh');
    expect(await intentOf(['chat'])).toBe('fresh');
    expect(await intentOf([IMAGE_GENERATION])).toBe('continuation');
    expect(await intentOf(['chat', IMAGE_EDIT])).toBe('continuation');
    expect(await intentOf([IMAGE_EDIT, 'chat'])).toBe('fresh');
    expect(await intentOf([], { source: 'f' })).toBe('continuation');
    expect(await intentOf([], { referenceFileIds: ['f'] })).toBe('continuation');
  });
});

describe('refused image request', () => {
  it.each([
    ['writer', "model: unknown image model 'writer'"],
    ['mute', "model: unknown image model 'mute'"],
    ['none', "model: unknown image model 'none'"],
    ['off', "model: 'off' is switched off"],
    ['old', "model 'old' was retired on 2026-01-01"],
  ])('names the model %s', async (model, message) => {
    const { accept } = await setUp();
    await expect(accept({ model })).rejects.toMatchObject({
      ...{ status: 422, code: 'model_unavailable', message },
    });
  });

  it('names a model without a price, where credits are enforced', async () => {
    await expect((await setUp()).accept({ model: 'free' })).rejects.toMatchObject({ status: 422 });
    const free = await setUp([], false);
    expect((await free.accept({ model: 'free' })).answer.status).toBe('queued');
  });

  it('is one for an organization of others', async () => {
    const { accept } = await setUp();
    await expect(accept({ organizationId: 'o' })).rejects.toMatchObject({ status: 404 });
    expect((await accept({ organizationId: null })).answer.status).toBe('queued');
  });

  it('names a session that the user may not change', async () => {
    const { accept } = await setUp();
    await expect(accept({ sessionId: 'b'.repeat(24) })).rejects.toMatchObject({ status: 404 });
  });
});
