import { defineRoute, jsonReply, type Route } from '@questline/core';
import { estimateInput, findChatModel, type MediaLoader, promptSize } from '@questline/core/internal';
import type { ModelContent } from '@questline/core/ports';
import { countTokens } from './contract.ts';
import type { MessagesServices } from './handlers.ts';
import { toModelMessages } from './messages.ts';
import { toCatalogueId } from './model-ids.ts';
import { refuseUnsupported, toTools } from './request.ts';

/** The number is an estimate: no provider is asked. */
const ESTIMATE_HEADER = 'X-Token-Count';

/** One page, about as much as an image. */
const PAGE: ModelContent = { type: 'image', mediaType: 'image/png', data: '' };

/** Loads nothing: an image or a file that is not in the request counts as one page. */
const PAGES: MediaLoader = {
  image: async () => PAGE,
  document: async () => PAGE,
  inline: async () => PAGE,
  sent: async ({ contentType: mediaType, data, name }) => ({ type: 'document', mediaType, data, name }),
  stored: async () => [PAGE],
};

/**
 * `POST /v1/messages/count_tokens`: free, and the same estimate as for the hold and the context window of
 * `POST /v1/messages`.
 */
export function createCountTokensHandler(services: MessagesServices): Route {
  return defineRoute(countTokens, services, async ({ body }, { caller }) => {
    refuseUnsupported(body);
    const catalogue = await services.getCatalogue(caller);
    findChatModel(catalogue, toCatalogueId(catalogue, body.model));
    const messages = await toModelMessages(body, PAGES);
    const tokens = estimateInput(promptSize({ messages, ...toTools(body) }));
    return jsonReply(200, { input_tokens: tokens, estimated: true }, { [ESTIMATE_HEADER]: 'estimate' });
  });
}
