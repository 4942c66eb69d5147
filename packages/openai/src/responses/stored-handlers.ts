import { ApiError, defineRoute, jsonReply, Reply, type Route } from '@questline/core';
import {
  createResponses,
  type PipelineServices,
  type Responses,
  type ResponsesServices,
  STREAM_HEADERS,
  type StoredResponse,
} from '@questline/core/internal';
import { toPage } from '../conversations/pages.ts';
import { issue } from '../errors.ts';
import { cancelResponse, deleteResponse, getResponse, listInputItems } from './contract-stored.ts';
import { toResponseId } from './ids.ts';
import { toListedItem } from './listed-items.ts';
import { toWireResponse } from './stored-view.ts';
import { getItems, isReferable, readInput, readWire } from './stored-wire.ts';
import { createStoredWriter } from './stored-writer.ts';

export interface StoredRouteServices extends PipelineServices, ResponsesServices {
  readonly catalogue: { readonly creditsPerUsd: number };
  readonly clock: ResponsesServices['clock'];
  readonly onError: PipelineServices['onError'];
  readonly ids: PipelineServices['ids'];
}

/** Reads, stops and deletes stored responses. */
export function storedResponseRoutes(services: StoredRouteServices): Route[] {
  const responses = createResponses(services);
  const { creditsPerUsd } = services.catalogue;
  const find = async (userId: string, id: string): Promise<StoredResponse> => {
    const response = await responses.find(userId, id);
    if (response === undefined || !isReferable(response)) throw unknown(id);
    return response;
  };

  return [
    defineRoute(getResponse, services, async ({ params: { id }, query }, { caller: { userId }, signal }) => {
      const { stream = false, starting_after: after } = query;
      if (after !== undefined && !stream) throw issue('starting_after', 'needs stream=true');
      const response = await find(userId, id);
      if (!stream) return jsonReply(200, toWireResponse(response, creditsPerUsd));
      const writer = createStoredWriter(readWire(response), { id, after, creditsPerUsd });
      if (!response.isClosed) {
        return new Reply(200, STREAM_HEADERS, responses.follow(userId, id, signal, writer));
      }
      const parts = response.output.parts.map((part) => writer.add(part));
      const text = writer.head + parts.join('') + writer.end(response);
      if (after !== undefined && after >= writer.count()) {
        throw issue('starting_after', `the last event of this response is ${writer.count() - 1}`);
      }
      return new Reply(200, STREAM_HEADERS, text);
    }),

    defineRoute(cancelResponse, services, async ({ params: { id } }, { caller: { userId } }) => {
      await find(userId, id);
      await responses.cancel(id);
      return jsonReply(200, toWireResponse(await find(userId, id), creditsPerUsd));
    }),

    defineRoute(deleteResponse, services, async ({ params: { id } }, { caller: { userId } }) => {
      await find(userId, id);
      if (!(await responses.remove(userId, id))) throw unknown(id);
      return jsonReply(200, { id: toResponseId(id), object: 'response', deleted: true });
    }),

    defineRoute(listInputItems, services, async ({ params: { id }, query }, { caller: { userId } }) => {
      const response = await find(userId, id);
      const { limit, order, after } = query;
      const all = await listItems(responses, userId, response);
      if (order === 'desc') all.reverse();
      const place = after === undefined ? -1 : all.findIndex((item) => item.id === after);
      if (after !== undefined && place < 0) throw issue('after', 'expected the id of an item of this list');
      const data = all.slice(place + 1, place + 1 + limit);
      return jsonReply(200, toPage(data, place + 1 + limit < all.length));
    }),
  ];
}

/** All items before the answer, oldest first. Those of responses that were deleted are left out. */
async function listItems(responses: Responses, userId: string, response: StoredResponse) {
  const earlier = await responses.findAll(userId, response.earlier);
  return [...earlier.flatMap(getItems), ...readInput(response)].map(toListedItem);
}

function unknown(id: string): ApiError {
  return new ApiError(404, `Response with id '${toResponseId(id)}' not found.`);
}
