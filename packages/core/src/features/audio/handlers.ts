import type { Call } from '../../contract/call.ts';
import type { Reply } from '../../contract/reply.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import { countCharacters } from '../../shared/characters.ts';
import { invalid } from '../../shared/errors.ts';
import { audioCandidates } from './candidates.ts';
import { generateMusic, generateSoundEffect, synthesizeSpeech } from './contract.ts';
import { type DeliveryServices, deliver } from './delivery.ts';
import { loadAudioContext, type SpeechServices, speak } from './speak.ts';
import { makeAudio } from './synthesize.ts';

export interface AudioServices extends PipelineServices, SpeechServices, DeliveryServices {}

/** Maximum seconds of a sound effect whose duration the provider chooses. */
const MAX_EFFECT = 30;

export function audioRoutes(services: AudioServices): Route[] {
  return [createSpeechHandler(services), createMusicHandler(services), createSoundEffectHandler(services)];
}

/** `POST /api/ai/tts` */
export function createSpeechHandler(services: AudioServices): Route {
  return defineRoute(synthesizeSpeech, services, async ({ body }, call) => {
    const { result, entry, fallbackFrom } = await speak(services, synthesizeSpeech.id, body, call);
    const provider = entry.provider.id;
    return deliver(
      services,
      result,
      {
        ...body,
        name: 'speech',
        provider,
        fallbackFrom,
        headers: {
          'X-Tts-Provider': provider,
          ...(fallbackFrom !== undefined && { 'X-Tts-Provider-Fallback-From': fallbackFrom }),
        },
      },
      call,
    );
  });
}

/** `POST /api/ai/music` */
export function createMusicHandler(services: AudioServices): Route {
  return defineRoute(generateMusic, services, async ({ body }, call) => {
    const { prompt, lengthMs, format, forceInstrumental } = body;
    const { catalogue, metered } = await loadAudioContext(services, call);
    const seconds = lengthMs / 1000;
    const candidates = audioCandidates(
      catalogue,
      {
        type: 'music',
        verb: 'music',
        provider: body.provider,
        model: body.modelId,
        text: prompt,
        format,
        options: [],
        seconds,
        ...(forceInstrumental !== undefined && { instrumental: forceInstrumental }),
        notConfigured: 503,
        tooLong: (_entry, limit) => invalid('prompt', `expected at most ${limit} characters`),
      },
      metered,
    );
    const made = await makeAudio(
      services,
      {
        operation: generateMusic.id,
        candidates,
        metered,
        most: { seconds, characters: countCharacters(prompt) },
        // A named model is the only candidate.
        mayFallBack: body.provider === undefined,
        notConfigured: 503,
        async ask({ provider, providerModel }, signal) {
          if (provider.music === undefined)
            throw new Error(`Provider ${provider.id} has no music generation`);
          const request = {
            model: providerModel,
            prompt,
            lengthMs,
            format,
            ...(forceInstrumental !== undefined && { instrumental: forceInstrumental }),
          };
          return provider.music(request, { signal });
        },
      },
      call,
    );
    return deliverAudio(services, body, 'music', made, call);
  });
}

/** `POST /api/ai/sound-effects` */
export function createSoundEffectHandler(services: AudioServices): Route {
  return defineRoute(generateSoundEffect, services, async ({ body }, call) => {
    const { text, durationSeconds, promptInfluence, format } = body;
    const { catalogue, metered } = await loadAudioContext(services, call);
    const candidates = audioCandidates(
      catalogue,
      {
        type: 'sound-effect',
        verb: 'soundEffect',
        provider: body.provider,
        model: undefined,
        text,
        format,
        options: promptInfluence === undefined ? [] : ['promptInfluence'],
        ...(durationSeconds !== undefined && { seconds: durationSeconds }),
        notConfigured: 503,
        tooLong: (_entry, limit) => invalid('text', `expected at most ${limit} characters`),
      },
      metered,
    );
    const made = await makeAudio(
      services,
      {
        operation: generateSoundEffect.id,
        candidates,
        metered,
        most: { seconds: durationSeconds ?? MAX_EFFECT, characters: countCharacters(text) },
        mayFallBack: body.provider === undefined,
        notConfigured: 503,
        async ask({ provider, providerModel }, signal) {
          if (provider.soundEffect === undefined)
            throw new Error(`Provider ${provider.id} has no sound effects`);
          const request = {
            model: providerModel,
            text,
            format,
            ...(durationSeconds !== undefined && { durationSeconds }),
            ...(promptInfluence !== undefined && { promptInfluence }),
          };
          return provider.soundEffect(request, { signal });
        },
      },
      call,
    );
    return deliverAudio(services, body, 'sound', made, call);
  });
}

function deliverAudio(
  services: AudioServices,
  body: Pick<Parameters<typeof deliver>[2], 'format' | 'encoding' | 'preview'>,
  name: string,
  { result, entry, fallbackFrom }: Awaited<ReturnType<typeof makeAudio>>,
  call: Call,
): Promise<Reply> {
  const options = { ...body, name, provider: entry.provider.id, fallbackFrom, headers: {} };
  return deliver(services, result, options, call);
}
