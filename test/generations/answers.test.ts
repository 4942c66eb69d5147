import { describe, expect, it } from 'vitest';
import { changeStored, openGenerationRequests as open } from '../support/generation-requests.ts';
import { openFrames } from '../support/live-events.ts';

describe('a generation of the caller', () => {
  it('is not found by other users', async () => {
    const { video, json, addUser, token, generations } = await open();
    const { body } = await video();
    const credential = await token(await addUser('bob@example.com'));
    const path = `/api/v1/video-generations/${body.id}` as const;
    for (const [method, end] of [
      ['GET', ''],
      ['GET', '/events'],
      ['POST', '/cancel'],
    ] as const) {
      const answer = await json(method, `${path}${end}`, { credential });
      expect([answer.status, answer.body.error]).toEqual([404, 'Video generation not found']);
    }
    expect((await generations.get(body.id))?.state).toBe('pending');
  });

  it('is not found before its credit is held', async () => {
    const { video, json, generations } = await open();
    const { body } = await video();
    await generations.update(body.id, { state: 'reserving' });
    expect((await json('GET', `/api/v1/video-generations/${body.id}`)).status).toBe(404);
    expect((await json('GET', '/api/v1/video-generations')).body.data).toEqual([]);
  });

  it('that has ended is answered to a cancellation', async () => {
    const { video, json } = await open();
    const { body } = await video();
    const path = `/api/v1/video-generations/${body.id}/cancel` as const;
    const first = await json('POST', path);
    expect(first).toMatchObject({ status: 200, body: { state: 'cancelled' } });
    expect((await json('POST', path)).body).toEqual(first.body);
  });

  it('has events after a position of the query', async () => {
    const { video, ask, generations, clock, settle } = await open();
    const { body } = await video();
    const { updatedAt = 0 } = (await generations.get(body.id)) ?? {};
    const path = `/api/v1/video-generations/${body.id}/events?after=${updatedAt}` as const;
    const reader = openFrames(await ask('GET', path));
    const first = reader.next();
    await settle();
    await clock.advance(1000);
    await settle();
    await generations.update(body.id, { state: 'running', updatedAt: updatedAt + 1 });
    await clock.advance(2000);
    await settle();
    expect((await first)?.data.state.state).toBe('running');
    await reader.close();
  });

  it('is listed in pages that read one record more', async () => {
    const limits: unknown[] = [];
    const { video, json } = await open(undefined, {
      store: (store) =>
        changeStored(store, ({ find }) => ({
          find(...[filter, options]: Parameters<typeof find>) {
            limits.push(options?.limit);
            return find(filter, options);
          },
        })),
    });
    await video();
    expect((await json('GET', '/api/v1/video-generations?limit=3')).body.data).toHaveLength(1);
    expect(limits).toEqual([4]);
  });
});
