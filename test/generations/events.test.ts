import { GENERATIONS } from '@questline/core/internal';
import type { Publisher } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createVideoStudio } from '../support/generations.ts';
import { createLatePublisher } from '../support/late-publisher.ts';
import { openFrames, readFrames } from '../support/live-events.ts';
import { createTestApp } from '../support/test-app.ts';

async function begin(publisher?: Publisher) {
  const app = await createTestApp({
    ...(publisher !== undefined && { publisher }),
    models: [createVideoStudio()],
    key: { scopes: ['ai:generate'] },
  });
  const answer = await app.ask('POST', '/api/v1/video-generations', {
    body: { model: 'director', prompt: 'A red panda' },
  });
  const { id } = (await answer.json()) as { id: string };
  const path = `/api/v1/video-generations/${id}`;
  return { app, id, path, generations: app.services.store.collection(GENERATIONS) };
}

describe('events of a generation', () => {
  it('begin with its state, follow each change and end with the result', async () => {
    const { app, id, path, generations } = await begin();
    const reader = openFrames(await app.ask('GET', `${path}/events`));
    const first = await reader.next();
    expect(first?.data).toMatchObject({ type: 'snapshot', state: { id, state: 'pending' } });
    await app.settle();
    await app.clock.advance(1000);
    await app.settle();
    const updatedAt = app.clock.now();
    await generations.update(id, { state: 'running', progress: 0.5, updatedAt });
    await app.clock.advance(2000);
    await app.settle();
    const second = await reader.next();
    expect(second).toMatchObject({
      id: String(updatedAt),
      data: { type: 'snapshot', state: { progress: 0.5 } },
    });
    await app.ask('POST', `${path}/cancel`);
    await app.settle();
    expect(await reader.next()).toMatchObject({ id: 'end', data: { state: { state: 'cancelled' } } });
    expect(await reader.next()).toBeUndefined();
    expect(app.incidents).toEqual([]);
  });

  it('continue with the next change', async () => {
    const { app, id, path, generations } = await begin();
    const [first] = await readFrames(await app.ask('GET', `${path}/events`), 1);
    const again = openFrames(
      await app.ask('GET', `${path}/events`, { headers: { 'Last-Event-ID': String(first?.id) } }),
    );
    await app.settle();
    await app.clock.advance(1000);
    await generations.update(id, { state: 'running', updatedAt: app.clock.now() });
    await app.clock.advance(2000);
    await app.settle();
    expect((await again.next())?.data.state.state).toBe('running');
    await again.close();
  });

  it('include, without a poll, an end during the subscription', async () => {
    const publisher = createLatePublisher(() => true);
    const { app, path } = await begin(publisher);
    const reading = readFrames(await app.ask('GET', `${path}/events`));
    await app.settle();
    await app.ask('POST', `${path}/cancel`);
    await app.settle();
    publisher.activate();
    const frames = await reading;
    expect(frames.at(-1)).toMatchObject({ id: 'end', data: { state: { state: 'cancelled' } } });
  });
});
