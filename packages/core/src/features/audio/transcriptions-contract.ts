import * as z from 'zod';
import { defineOperation } from '../../contract/operation.ts';

/** Bytes of one recording: 25 MB. */
export const MAX_BYTES = 26_214_400;

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
    .meta({ description: 'Accepts a multipart POST: the fields first, the part `file` last.' }),
  upload_fields: z.record(z.string(), z.string()).describe('The form fields to send before the file.'),
  file_key: z.string().describe('The key of the recording, from `createTranscriptionUpload`.'),
  expires_at: z.iso.datetime().describe('The time at which the upload expires.'),
});

const transcript = z.object({ text: z.string().describe('The spoken text.') });

const common = {
  method: 'POST',
  tag: 'Transcriptions',
  auth: 'key-or-token',
  scopes: ['ai:generate'],
  rate: { key: 'standard', user: 'standard' },
  owner: 'caller',
  family: 'public',
  subject: 'Upload',
} as const;

const failures = [
  { status: 502, description: 'The provider failed, or did not answer in time.' },
  { status: 503, description: 'No provider for this is configured, or it is overloaded.' },
  { status: 504, description: 'The transcription exceeded the request timeout; nothing is charged.' },
] as const;

export const createTranscriptionUpload = defineOperation({
  ...common,
  id: 'createTranscriptionUpload',
  path: '/api/v1/transcriptions/uploads',
  summary: 'Create an upload URL for a recording',
  description:
    'Upload the recording with the returned URL and fields, then pass `file_key` to `createTranscription`.',
  input: {
    body: z.strictObject({
      mime_type: z.enum(RECORDINGS).describe('The media type of the recording.'),
      file_size: z.number().int().min(1).max(MAX_BYTES).meta({ description: 'Bytes, exactly.' }),
    }),
  },
  output: { 201: { description: 'The upload URL, valid for 5 minutes.', schema: upload } },
});

export const createTranscription = defineOperation({
  ...common,
  id: 'createTranscription',
  paid: true,
  path: '/api/v1/transcriptions',
  summary: 'Transcribe an uploaded recording',
  description: 'The recording is deleted when the call ends, with any outcome.',
  input: {
    body: z.strictObject({
      file_key: z.string().describe('The key of the recording, from `createTranscriptionUpload`.'),
    }),
  },
  output: { 200: { description: 'The transcript.', schema: transcript } },
  refusals: [
    {
      status: 404,
      description: 'The recording is unknown to the caller, was not uploaded, or has expired.',
    },
    ...failures,
  ],
});

export const transcribeAtOnce = defineOperation({
  id: 'transcribeAtOnce',
  paid: true,
  method: 'POST',
  path: '/api/ai/transcribe',
  summary: 'Transcribe the recording in the part `file`',
  description:
    'Waits for the text. For recordings above the limit of a request, use `createTranscriptionUpload`.',
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application-upload' },
  owner: 'none',
  family: 'application',
  tag: 'Models',
  bodyLimit: MAX_BYTES,
  bodyType: 'multipart',
  input: { body: z.object({ file: z.string().meta({ format: 'binary' }).describe('The recording.') }) },
  output: { 200: { description: 'The transcript.', schema: transcript } },
  refusals: [{ status: 400, description: 'Not a form, or a form without the part `file`.' }, ...failures],
});
