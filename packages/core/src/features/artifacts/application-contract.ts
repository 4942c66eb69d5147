import * as z from 'zod';
import { defineOperation } from '../../contract/operation.ts';
import { artifact, getArtifact, listArtifacts } from './contract.ts';

const MAX_OFFSET = 10_000_000;

const query = z.object({
  limit: z
    .string()
    .regex(/^(?:[1-9]\d?|100)$/, 'expected a whole number from 1 to 100')
    .transform(Number)
    .default(20)
    .meta({
      type: 'integer',
      minimum: 1,
      maximum: 100,
      default: 20,
      description: 'The maximum number of artifacts in the answer, 1 to 100.',
    }),
  offset: z
    .string()
    .regex(/^(?:0|[1-9]\d{0,6}|10000000)$/, `expected a whole number from 0 to ${MAX_OFFSET}`)
    .transform(Number)
    .default(0)
    .meta({
      type: 'integer',
      minimum: 0,
      maximum: MAX_OFFSET,
      default: 0,
      description: 'The number of artifacts to skip.',
    }),
});

const page = z.object({
  artifacts: z.array(artifact).meta({ description: 'The artifacts, without content.' }),
  pagination: z
    .object({
      total: z.int().min(0).meta({ description: "The number of the caller's artifacts." }),
      limit: z.int().min(1).meta({ description: 'The maximum number of artifacts in the answer.' }),
      offset: z.int().min(0).meta({ description: 'The number of skipped artifacts.' }),
      hasMore: z.boolean().meta({ description: 'Whether more artifacts follow.' }),
    })
    .meta({ description: 'The place of the answer in the whole list.' }),
});

export const listApplicationArtifacts = defineOperation({
  ...listArtifacts,
  id: 'listApplicationArtifacts',
  path: '/api/artifacts',
  side: 'application',
  description: 'The records of `GET /api/v1/artifacts`, by offset.',
  input: { query },
  output: { 200: { description: 'A page of artifacts, without content.', schema: page } },
});

export const getApplicationArtifact = defineOperation({
  ...getArtifact,
  id: 'getApplicationArtifact',
  path: '/api/artifacts/{id}',
  side: 'application',
  description: 'The record of `GET /api/v1/artifacts/{id}`, with the content beside it.',
  input: {
    params: getArtifact.input.params,
    query: z.object({
      includeContent: z
        .enum(['true', 'false'])
        .default('false')
        .meta({ description: 'Whether the answer contains the content.' }),
    }),
  },
  output: {
    200: {
      description: 'The artifact.',
      schema: z.object({
        artifact: artifact.meta({ description: 'The artifact; its own `content` is null.' }),
        content: z
          .string()
          .nullable()
          .meta({ description: 'The content of the current version; null without `includeContent`.' }),
      }),
    },
  },
});
