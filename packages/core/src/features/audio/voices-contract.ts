import * as z from 'zod';
import { defineOperation } from '../../contract/operation.ts';

const voice = z.object({
  id: z.string().meta({ description: 'For `voice` of `POST /api/ai/tts`.' }),
  name: z.string().meta({ description: 'Its name for people.' }),
  description: z.string().optional().meta({ description: 'How it sounds.' }),
  language: z.string().optional().meta({ description: 'Its language, e.g. `en`.' }),
  provider: z.string().optional().meta({ description: 'For `provider` of `POST /api/ai/tts`.' }),
  model: z.string().optional().meta({ description: 'For `model` of `POST /api/ai/tts`.' }),
  preview_url: z.string().optional().meta({ description: 'The URL of a sample.' }),
});

/** A voice that the host offers for speech. */
export type Voice = z.input<typeof voice>;

export const listVoices = defineOperation({
  id: 'listVoices',
  method: 'GET',
  path: '/api/v1/voices',
  tag: 'Audio',
  summary: 'List the voices for speech',
  description: 'Present where the host lists voices.',
  auth: 'key-or-token',
  scopes: ['ai:generate'],
  rate: { key: 'day-exempt', user: 'standard' },
  owner: 'public',
  family: 'public',
  input: {},
  output: {
    200: {
      description: 'The voices, in the order of the host.',
      schema: z.object({ data: z.array(voice).meta({ description: 'The voices.' }) }),
    },
  },
});
