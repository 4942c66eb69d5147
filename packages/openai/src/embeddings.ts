import { defineOperation, defineRoute, jsonReply, type Route } from '@questline/core';
import {
  answerEmbeddings,
  answerOnce,
  type EmbeddingsServices,
  list,
  type OnceServices,
  unknownModel,
} from '@questline/core/internal';
import * as z from 'zod';
import { openAIErrors } from './errors.ts';

/* By the types of the npm package `openai` 7.57.0 (13 November 2026), without lists of tokens as input. */

const body = z.looseObject({
  model: z.string(),
  input: z.union([z.string(), list(z.string(), { min: 1, max: 2048 })], {
    error: 'expected text, or a list of 1 to 2048 texts; tokens are not supported',
  }),
  dimensions: z.int().gt(0).nullish(),
  encoding_format: z.enum(['float', 'base64']).nullish(),
});

const createOpenAIEmbeddings = defineOperation({
  id: 'createOpenAIEmbeddings',
  paid: true,
  method: 'POST',
  path: '/v1/embeddings',
  counterpart: 'createEmbeddings',
  summary: 'Create embeddings',
  auth: 'key-or-token',
  scopes: ['ai:generate'],
  rate: { key: 'standard', user: 'standard' },
  owner: 'none',
  family: 'public',
  errorFormat: openAIErrors,
  idempotent: true,
  bodyLimit: 4 * 2 ** 20,
  input: { body },
  output: { 200: { description: 'A vector for each input.' } },
});

export function createEmbeddingsRoute(services: EmbeddingsServices & OnceServices): Route {
  return defineRoute(createOpenAIEmbeddings, services, async ({ body: asked }, call) => {
    const { model, input, dimensions, encoding_format: format } = asked;
    const catalogue = await services.getCatalogue(call.caller);
    if (catalogue.find(model)?.info.type !== 'embedding') {
      throw unknownModel(model, `'${model.slice(0, 100)}' is not an embedding model of this server`);
    }
    const once = { call, path: createOpenAIEmbeddings.path, body: asked };
    const { answer, headers } = await answerOnce(services, once, 'stop', () =>
      answerEmbeddings(
        services,
        createOpenAIEmbeddings.id,
        { model, input, dimensions: dimensions ?? undefined, encoding_format: format ?? 'float' },
        call,
      ),
    );
    return jsonReply(200, answer, headers);
  });
}
