import { defineOperation, defineRoute, jsonReply, Reply, type Route } from '@questline/core';
import {
  answerOnce,
  MAX_RECORDING_BYTES,
  type OnceServices,
  type PipelineServices,
  type SpeechServices,
  speak,
  type TranscribingServices,
  text,
  transcribe,
  unknownModel,
} from '@questline/core/internal';
import * as z from 'zod';
import { issue, openAIErrors, unsupported } from './errors.ts';
import { describeForm, type FormFile, readWholeForm } from './form.ts';

/* By the types of the npm package `openai` 7.57.0 (13 November 2026). */

export interface AudioRouteServices
  extends PipelineServices,
    SpeechServices,
    TranscribingServices,
    OnceServices {}

const common = {
  paid: true,
  method: 'POST',
  auth: 'key-or-token',
  scopes: ['ai:generate'],
  rate: { key: 'standard', user: 'standard' },
  owner: 'none',
  family: 'public',
  errorFormat: openAIErrors,
  idempotent: true,
} as const;

const createOpenAISpeech = defineOperation({
  ...common,
  id: 'createOpenAISpeech',
  path: '/v1/audio/speech',
  counterpart: 'synthesizeSpeech',
  summary: 'Speak a text',
  input: {
    body: z.looseObject({
      model: z.string(),
      input: text({ min: 1, max: 100_000 }),
      voice: z.union([z.string(), z.object({ id: z.string() })]),
      response_format: z.enum(['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm']).nullish(),
      speed: z.number().nullish(),
      instructions: z.string().nullish(),
      stream_format: z.string().nullish(),
    }),
  },
  output: { 200: { description: 'The audio.' } },
});

const createOpenAITranscription = defineOperation({
  ...common,
  id: 'createOpenAITranscription',
  path: '/v1/audio/transcriptions',
  counterpart: 'createTranscription',
  summary: 'Transcribe a recording',
  bodyType: 'multipart',
  bodyLimit: MAX_RECORDING_BYTES,
  input: {},
  output: { 200: { description: 'The spoken text.' } },
});

export function audioRoutes(services: AudioRouteServices): Route[] {
  return [createSpeechRoute(services), createTranscriptionRoute(services)];
}

function createSpeechRoute(services: AudioRouteServices): Route {
  return defineRoute(createOpenAISpeech, services, async ({ body }, call) => {
    const { model, input, voice, response_format: format } = body;
    if (body.speed != null && body.speed !== 1) throw unsupported('speed', 'another speed than 1');
    if (body.instructions) throw unsupported('instructions', 'directions for the voice');
    if (body.stream_format === 'sse') throw unsupported('stream_format', 'events; use audio');
    const catalogue = await services.getCatalogue(call.caller);
    if (catalogue.find(model)?.info.type !== 'text-to-speech') {
      throw unknownModel(model, `'${model.slice(0, 100)}' is not a text-to-speech model of this server`);
    }
    const asked = {
      model,
      text: input,
      voice: typeof voice === 'string' ? voice : voice.id,
      format: format ?? 'mp3',
    };
    const once = { call, path: createOpenAISpeech.path, body };
    const { answer, headers } = await answerOnce(services, once, 'finish', async () => {
      const { result } = await speak(services, createOpenAISpeech.id, asked, call);
      return { mediaType: result.mediaType, base64: Buffer.from(result.data).toString('base64') };
    });
    const audio = Buffer.from(answer.base64, 'base64');
    return new Reply(200, { ...headers, 'Content-Type': answer.mediaType }, audio);
  });
}

function createTranscriptionRoute(services: AudioRouteServices): Route {
  return defineRoute(createOpenAITranscription, services, async (_input, call) => {
    services.admissionControl.admit();
    const form = await readWholeForm(call.request, MAX_RECORDING_BYTES);
    const { fields, files } = form;
    const { model, response_format: format = 'json' } = fields;
    if (model === undefined) throw issue('model', 'is required');
    if (format !== 'json' && format !== 'text') throw unsupported('response_format', 'use json or text');
    if (fields.stream === 'true') throw unsupported('stream', 'events');
    const file = files.find(({ field }) => field === 'file');
    if (file === undefined) throw issue('file', 'is required');
    if (file.data.length === 0) throw issue('file', 'is empty');
    const catalogue = await services.getCatalogue(call.caller);
    if (catalogue.find(model)?.info.type !== 'speech-to-text') {
      throw unknownModel(model, `'${model.slice(0, 100)}' is not a speech-to-text model of this server`);
    }
    const audio = { mediaType: toMediaType(file), data: file.data };
    const about = { operation: createOpenAITranscription.id, family: 'public', model } as const;
    const once = { call, path: createOpenAITranscription.path, body: describeForm(form) };
    const { answer, headers } = await answerOnce(services, once, 'finish', () =>
      transcribe(services, audio, about, call),
    );
    if (format === 'text') {
      const type = { 'Content-Type': 'text/plain; charset=utf-8' };
      return new Reply(200, { ...headers, ...type }, `${answer.text}\n`);
    }
    return jsonReply(200, { text: answer.text }, headers);
  });
}

/** Clients often send a type that says nothing: the ending of the name decides then. */
const TYPES: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  mpga: 'audio/mpeg',
  mpeg: 'audio/mpeg',
  mp4: 'audio/mp4',
  m4a: 'audio/mp4',
  wav: 'audio/wav',
  webm: 'audio/webm',
  ogg: 'audio/ogg',
  oga: 'audio/ogg',
  flac: 'audio/flac',
};

function toMediaType({ filename, contentType }: FormFile): string {
  const ending = filename.slice(filename.lastIndexOf('.') + 1).toLowerCase();
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const known = TYPES[ending] ?? (Object.values(TYPES).includes(type) ? type : undefined);
  if (known === undefined) {
    throw issue('file', `expected a recording, one of ${Object.keys(TYPES).join(', ')}`);
  }
  return known;
}
