import { createVideoStudio, done, FILM_MODEL, SONG_MODEL } from '../../support/generations.ts';
import { createSoundStudio, createStudio, IMAGE_MODEL, SOUND_MODELS } from '../../support/media.ts';
import { makeSession } from '../../support/owned-resources.ts';
import type { TestAppOptions } from '../../support/test-app.ts';
import type { Setup } from '../outcome.ts';
import { createPicture } from '../things.ts';

const RATIOS = { kind: 'aspect_ratio', ratios: ['1:1', '16:9'], values: ['1:1', '16:9'] } as const;
const painters = (): TestAppOptions => ({
  models: [
    createStudio(undefined, [
      IMAGE_MODEL,
      { ...IMAGE_MODEL, id: 'other-painter', name: 'Other painter' },
      {
        ...IMAGE_MODEL,
        id: 'frames',
        name: 'Frames',
        ...(IMAGE_MODEL.image !== undefined && { image: { ...IMAGE_MODEL.image, sizing: RATIOS } }),
      },
    ]),
  ],
  settings: { admin: { DefaultImageModel: 'painter' } },
});

const draw = (more: object): Setup => ({ app: painters, ask: { body: { prompt: 'A panda', ...more } } });
const edit = (more: object): Setup => ({
  app: painters,
  ask: async (app) => ({
    body: {
      prompt: 'A panda',
      sessionId: await makeSession(app, app.user),
      image: await createPicture(app),
      ...more,
    },
  }),
});
const SIZES = { model: 'painter', width: 128, height: 128 };
const FRAMES = { model: 'frames', aspect_ratio: '1:1' };

const sounds = (): TestAppOptions => ({
  models: [
    createSoundStudio({}, 'media', [
      ...SOUND_MODELS.map((model) => ({
        ...model,
        ...(model.audio !== undefined && {
          audio: {
            ...model.audio,
            formats: ['mp3', 'wav'] as const,
            ...(model.type === 'text-to-speech' && {
              options: ['stability', 'similarityBoost', 'languageCode'] as const,
            }),
          },
        }),
      })),
      ...SOUND_MODELS.map((model) => ({ ...model, id: `other-${model.id}` })),
    ]),
    createSoundStudio({}, 'second'),
  ],
});

const videos = (): TestAppOptions => ({
  models: [
    createVideoStudio({ onJob: (job) => done(job) }, { onJob: (job) => done(job) }, [
      FILM_MODEL,
      { ...FILM_MODEL, id: 'other-director' },
      SONG_MODEL,
      { ...SONG_MODEL, id: 'other-composer' },
    ]),
  ],
});
const video = (more: object = {}): Setup => ({
  app: videos,
  ask: { body: { model: 'director', prompt: 'A panda', ...more } },
});

/** Operations that call media models. */
export const MEDIA: Readonly<Record<string, readonly Setup[]>> = {
  generateImage: [draw({ model: 'painter' }), draw(SIZES), draw(FRAMES)],
  editImage: [edit({ model: 'painter' }), edit(SIZES), edit(FRAMES)],
  synthesizeSpeech: [{ app: sounds, ask: { body: { text: 'Hello, you' } } }],
  generateMusic: [{ app: sounds, ask: { body: { prompt: 'A waltz' } } }],
  generateSoundEffect: [{ app: sounds, ask: { body: { text: 'A door' } } }],
  createVideoGeneration: [
    video(),
    {
      app: videos,
      ask: async (app) => ({
        body: {
          model: 'director',
          prompt: 'A panda',
          mode: 'image_to_video',
          input_image_file_id: await createPicture(app),
        },
      }),
    },
  ],
  createMusicGeneration: [{ app: videos, ask: { body: { model: 'composer', prompt: 'A waltz' } } }],
};
