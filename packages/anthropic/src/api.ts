import {
  createWire,
  type ModelsServices,
  unknownModel,
  vendorModelRoutes,
  type WireApi,
  type WireServices,
} from '@questline/core/internal';
import { withOneCredential } from './credentials.ts';
import { anthropicErrors } from './errors.ts';
import { withVendorHeaders } from './headers.ts';
import { createCountTokensHandler } from './messages/count-tokens.ts';
import { createMessagesHandler, type MessagesServices } from './messages/handlers.ts';

/** The services of `createAnthropicApi`; `createServices` of `@questline/core` returns them. */
export interface AnthropicApiServices extends WireServices, MessagesServices, ModelsServices {}

export interface AnthropicApiOptions {
  /** The path below the mount, for hosts that do not mount by path. Default: none. */
  readonly basePath?: `/${string}`;
}

/**
 * Creates the Anthropic API over the services of Questline: the same credentials, limits, budgets and credits as its own
 * API. Mount it at `/anthropic`; the vendor's SDKs use the base URL `https://<host>/anthropic`. Every path below the mount is
 * answered; at the root of a host, only those below `/v1/`.
 * @example
 * app.use('/anthropic', toExpress(createAnthropicApi(services)));
 */
export function createAnthropicApi(
  services: AnthropicApiServices,
  { basePath }: AnthropicApiOptions = {},
): WireApi {
  const guarded = { ...services, authenticator: withOneCredential(services.authenticator) };
  return createWire(guarded, {
    routes: [
      createMessagesHandler(guarded),
      createCountTokensHandler(guarded),
      ...vendorModelRoutes(guarded, { vendor: 'Anthropic', errorFormat: anthropicErrors, unknownModel }),
    ],
    basePath,
    errorFormat: anthropicErrors,
    complete: withVendorHeaders,
  });
}
