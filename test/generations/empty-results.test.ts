import { describe, expect, it } from 'vitest';
import { createGenerationApp, createVideoStudio, done, getVideo } from '../support/generations.ts';

describe('video without bytes', () => {
  it('is fetched again, and charged once its bytes arrive', async () => {
    const app = await createGenerationApp();
    const { id } = (await app.video()).body;
    await app.settle();
    const [job] = app.studio.videos.all;
    if (job === undefined) throw new Error('no job');
    job.content = { ...job.content, parts: [] };
    done(job);
    await app.pollsPass();
    expect(await app.look(id)).toMatchObject({ state: 'storing', credits: { settled: null } });
    job.content = { ...job.content, parts: [getVideo()] };
    await app.pollsPass(2);
    expect(await app.look(id)).toMatchObject({ state: 'succeeded', credits: { settled: 8 } });
    expect([job.fetches, await app.spent()]).toEqual([2, 8]);
  });

  it('fails free of charge after five fetches', async () => {
    const studio = createVideoStudio({
      onJob(job) {
        job.content = { ...job.content, parts: [] };
        done(job);
      },
    });
    const app = await createGenerationApp(studio);
    const { id } = (await app.video()).body;
    await app.settle();
    await app.pollsPass(40);
    expect(await app.look(id)).toMatchObject({ state: 'failed', error: { code: 'provider_error' } });
    expect([studio.videos.all[0]?.fetches, await app.spent()]).toEqual([5, 0]);
  });
});
