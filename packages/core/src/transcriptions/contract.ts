import * as z from 'zod';
import { defineOperation } from '../operation.ts';

/** Bytes of one recording: 25 MB. */
export const MOST_BYTES = 26_214_400;

export const RECORDINGS = [
  'audio/mpeg',
  'audio/mp4',
  'audio/wav',
  'audio/webm',
  'audio/ogg',
  'audio/flac',
] as const;

const upload = z.object({
  upload_url: z
    .string()
    .meta({ description: 'Takes a multipart POST: the fields first, the part `file` last.' }),
  upload_fields: z.record(z.string(), z.string()),
  file_key: z.string(),
  expires_at: z.iso.datetime(),
});

const transcript = z.object({ text: z.string() });

const common = {
  method: 'POST',
  tag: 'Transcriptions',
  auth: 'key-or-token',
  scopes: ['ai:generate'],
  rate: { key: 'standard', user: 'unlimited' },
  owner: 'caller',
  family: 'public',
  subject: 'Upload',
} as const;

const failures = [
  { status: 502, description: 'The provider failed, or did not answer in time.' },
  { status: 503, description: 'No provider for this is configured, or it is overloaded.' },
  { status: 504, description: 'It took longer than callers may wait; nothing is charged.' },
] as const;

export const createTranscriptionUpload = defineOperation({
  ...common,
  id: 'createTranscriptionUpload',
  path: '/api/v1/transcriptions/uploads',
  summary: 'Get an address to send a recording to',
  input: {
    body: z.strictObject({
      mime_type: z.enum(RECORDINGS),
      file_size: z.number().int().min(1).max(MOST_BYTES).meta({ description: 'Bytes, exactly.' }),
    }),
  },
  output: { 201: { description: 'Where to send it, within 5 minutes.', schema: upload } },
});

export const createTranscription = defineOperation({
  ...common,
  id: 'createTranscription',
  path: '/api/v1/transcriptions',
  summary: 'Write down what is said in a recording',
  description: 'The recording is deleted when the call ends, however it ends.',
  input: { body: z.strictObject({ file_key: z.string() }) },
  output: { 200: { description: 'What is said.', schema: transcript } },
  refusals: [
    {
      status: 404,
      description: 'The recording is unknown to the caller, has not arrived, or its time is over.',
    },
    ...failures,
  ],
});

export const transcribeAtOnce = defineOperation({
  id: 'transcribeAtOnce',
  method: 'POST',
  path: '/api/ai/transcribe',
  summary: 'Write down what is said in the recording of the part `file`',
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application-upload' },
  owner: 'none',
  family: 'application',
  bodyLimit: MOST_BYTES,
  bodyType: 'multipart',
  input: { body: z.object({ file: z.string().meta({ format: 'binary' }) }) },
  output: { 200: { description: 'What is said.', schema: transcript } },
  refusals: [{ status: 400, description: 'No form, or none with a part `file`.' }, ...failures],
});
