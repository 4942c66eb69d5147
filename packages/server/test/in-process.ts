import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ConsoleSettings, createConsole } from '@questline/console';
import { createApi, createServices, type Mountable, type Services, toNodeListener } from '@questline/core';
import { createMemoryMailer, createMemoryPorts } from '@questline/core/memory';
import type { ModelProvider, WebhookSender } from '@questline/core/ports';
import { expect, onTestFinished } from 'vitest';
import type { Workplace } from './workplaces.ts';

export interface InProcess extends Pick<Workplace, 'url' | 'code'> {
  readonly services: Services;
}

export interface InProcessOptions {
  readonly models: ModelProvider;
  /** Default: a sender whose receivers accept everything. */
  readonly webhooks?: WebhookSender;
  /** Default: none, so that nothing can be stored encrypted. */
  readonly secretEncryptionKey?: string;
  readonly tools?: ServicesOptions['tools'];
  readonly console?: ConsoleSettings;
  /** Changes the services before the API is created. */
  readonly change?: (services: Services) => Services;
  /** Routes of the host, before those of the API. */
  readonly host?: (services: Services) => Mountable;
}

type ServicesOptions = NonNullable<Parameters<typeof createServices>[1]>;

const ACCEPTING: WebhookSender = {
  isAllowed: async () => true,
  send: async () => ({ outcome: 'answered', status: 200 }),
};

/** A host with the API and the console in this process, until the test ends. */
export async function inThisProcess(options: InProcessOptions): Promise<InProcess> {
  const { models, secretEncryptionKey, webhooks = ACCEPTING, change = (services) => services } = options;
  const mailer = createMemoryMailer();
  const services = change(
    createServices(
      { ...createMemoryPorts(), models: [models], mailer, webhooks },
      {
        jwtSecret: 'a'.repeat(64),
        ...(secretEncryptionKey !== undefined && { secretEncryptionKey }),
        ...(options.tools !== undefined && { tools: options.tools }),
        admin: { enforceCredits: false },
        generations: { pollMs: 100 },
      },
    ),
  );
  const api = createApi(services);
  const host = options.host?.(services);
  const page = createConsole({ api, ...options.console });
  const server = createServer(
    toNodeListener({
      handle: async (request) =>
        (await host?.handle(request)) ?? (await api.handle(request)) ?? page.handle(request),
    }),
  );
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  await api.start();
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await api.close();
  });
  return {
    services,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async code(email) {
      const find = () => mailer.sent.findLast(({ to }) => to === email);
      await expect.poll(find, { timeout: 120_000 }).toBeDefined();
      return /is (\d{6})\./.exec(find()?.text ?? '')?.[1] ?? '';
    },
  };
}
