import type { Call } from '../call.ts';
import { countCharacters } from '../credits/estimates.ts';
import type { ReservationServices } from '../credits/reservations.ts';
import type { Intake } from '../engine/intake.ts';
import { ApiError, invalid } from '../errors.ts';
import type { Breaker } from '../models/breaker.ts';
import type { PipelineServices } from '../pipeline.ts';
import type { CatalogueOf } from '../provider-keys/own-models.ts';
import type { Reply } from '../reply.ts';
import { defineRoute, type Route } from '../route.ts';
import type { Switches } from '../settings/admin.ts';
import { audioCandidates } from './candidates.ts';
import { generateMusic, generateSoundEffect, synthesizeSpeech } from './contract.ts';
import { type DeliveryServices, deliver } from './delivery.ts';
import { makeAudio } from './making.ts';

export interface AudioServices extends PipelineServices, ReservationServices, DeliveryServices {
  readonly catalogueOf: CatalogueOf;
  readonly switches: Switches;
  readonly breaker: Breaker;
  readonly intake: Intake;
}

/** Seconds of a sound whose length is the provider's choice: the most there is. */
const LONGEST_EFFECT = 30;

export function audioRoutes(services: AudioServices): Route[] {
  return [createSpeechHandler(services), createMusicHandler(services), createSoundEffectHandler(services)];
}

/** `POST /api/ai/tts` */
export function createSpeechHandler(services: AudioServices): Route {
  return defineRoute(synthesizeSpeech, services, async ({ body }, call) => {
    const { text, voice, format, stability, similarityBoost, languageCode } = body;
    const { catalogue, metered } = await termsOf(services, call);
    const shades = {
      ...(stability !== undefined && { stability }),
      ...(similarityBoost !== undefined && { similarityBoost }),
      ...(languageCode !== undefined && { languageCode }),
    };
    const candidates = audioCandidates(
      catalogue,
      {
        type: 'text-to-speech',
        verb: 'speech',
        provider: body.provider,
        model: body.model,
        text,
        format,
        options: Object.keys(shades) as (keyof typeof shades)[],
        notConfigured: 401,
        tooLong: ({ provider }, limit) =>
          new ApiError(413, `text: longer than the ${limit} characters that ${provider.id} reads`, {
            extra: { provider: provider.id },
          }),
      },
      metered,
    );
    const { result, entry, fallbackFrom } = await makeAudio(
      services,
      {
        operation: synthesizeSpeech.id,
        candidates,
        metered,
        most: { characters: countCharacters(text) },
        // Voices are their provider's own.
        mayFallBack: body.provider === undefined && body.model === undefined && voice === undefined,
        notConfigured: 401,
        async ask({ provider, providerModel }) {
          if (provider.speech === undefined) throw new Error(`${provider.id} does not speak`);
          const request = {
            model: providerModel,
            text,
            format,
            ...(voice !== undefined && { voice }),
            ...shades,
          };
          return provider.speech(request, { signal: call.signal });
        },
      },
      call,
    );
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
    const { catalogue, metered } = await termsOf(services, call);
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
        mayFallBack: body.provider === undefined && body.modelId === undefined,
        notConfigured: 503,
        async ask({ provider, providerModel }) {
          if (provider.music === undefined) throw new Error(`${provider.id} makes no music`);
          const request = {
            model: providerModel,
            prompt,
            lengthMs,
            format,
            ...(forceInstrumental !== undefined && { instrumental: forceInstrumental }),
          };
          return provider.music(request, { signal: call.signal });
        },
      },
      call,
    );
    return handOver(services, body, 'music', made, call);
  });
}

/** `POST /api/ai/sound-effects` */
export function createSoundEffectHandler(services: AudioServices): Route {
  return defineRoute(generateSoundEffect, services, async ({ body }, call) => {
    const { text, durationSeconds, promptInfluence, format } = body;
    const { catalogue, metered } = await termsOf(services, call);
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
        most: { seconds: durationSeconds ?? LONGEST_EFFECT, characters: countCharacters(text) },
        mayFallBack: body.provider === undefined,
        notConfigured: 503,
        async ask({ provider, providerModel }) {
          if (provider.soundEffect === undefined) throw new Error(`${provider.id} makes no sounds`);
          const request = {
            model: providerModel,
            text,
            format,
            ...(durationSeconds !== undefined && { durationSeconds }),
            ...(promptInfluence !== undefined && { promptInfluence }),
          };
          return provider.soundEffect(request, { signal: call.signal });
        },
      },
      call,
    );
    return handOver(services, body, 'sound', made, call);
  });
}

async function termsOf({ intake, switches, catalogueOf }: AudioServices, { caller }: Call) {
  intake.admit();
  const { enforceCredits: metered } = await switches.current();
  return { metered, catalogue: await catalogueOf(caller.userId) };
}

function handOver(
  services: AudioServices,
  body: Pick<Parameters<typeof deliver>[2], 'format' | 'encoding' | 'preview'>,
  name: string,
  { result, entry, fallbackFrom }: Awaited<ReturnType<typeof makeAudio>>,
  call: Call,
): Promise<Reply> {
  const terms = { ...body, name, provider: entry.provider.id, fallbackFrom, headers: {} };
  return deliver(services, result, terms, call);
}
