import type { WebhookSender } from '@questline/core/ports';

/**
 * Posts webhooks, imported at first use: the start loads no HTTP client.
 * @param isPrivateAllowed they may call the network of the host.
 */
export function createLazyWebhookSender(isPrivateAllowed: boolean): WebhookSender {
  let loading: ReturnType<typeof load> | undefined;
  const sender = (): ReturnType<typeof load> => {
    loading ??= load(isPrivateAllowed);
    return loading;
  };
  return {
    isAllowed: async (url) => (await sender()).isAllowed(url),
    send: async (...call) => (await sender()).send(...call),
  };
}

async function load(isPrivateAllowed: boolean): Promise<WebhookSender> {
  const { createWebhookSender } = await import('@questline/providers/web');
  return createWebhookSender(isPrivateAllowed ? { isAllowedAddress: () => true } : {});
}
