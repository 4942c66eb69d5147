/**
 * Names that documentation snippets use without a declaration because hosts have them. A declaration in a
 * snippet overrides them.
 */

type Core = typeof import('@questline/core');

declare const ports: import('@questline/core').Ports;
declare const settings: import('@questline/core').Settings;
declare const services: import('@questline/core').Services;
declare const api: import('@questline/core').Api;
declare const user: import('@questline/core').UserRecord;
declare const models: import('@questline/core').Ports['models'];
declare const store: import('@questline/core/ports').Store;
declare const ledger: import('@questline/core/ports').CreditLedger;
declare const limiter: import('@questline/core/ports').RateLimiter;
declare const mailer: import('@questline/core/ports').Mailer;
declare const clock: import('@questline/core/ports').Clock;
declare const ids: import('@questline/core/ports').Ids;
declare const provider: import('@questline/core/ports').ModelProvider;
declare const database: import('@questline/sql').SqlDatabase;

declare const app: import('express').Express;
declare const log: { warn(fields: object, text?: string): void; error(fields: object, text?: string): void };
declare const config: Readonly<Record<'anthropicKey' | 'openaiKey' | 'gatewayKey' | 'mistralKey', string>>;
declare const webhookSecret: string;
declare const jwtSecret: string;
declare const stripeKey: string;
declare const findCustomer: (account: string) => Promise<string | undefined>;
declare const createStripeBilling: (
  stripeKey: string,
  findCustomer: (account: string) => Promise<string | undefined>,
) => import('@questline/core').EventHandler;
declare const secretEncryptionKey: string;
declare const apiKey: string;
declare const openAIKey: string;
declare const anthropicKey: string;
declare const elevenLabsKey: string;
declare const connectionString: string;
declare const url: string;
declare const token: string;
declare const key: string;
declare const reason: string;
declare const id: string;
declare const sessionId: string;
declare const userId: string;
declare const tokenFor: (userId: string) => Promise<string>;
declare const exchange: {
  tokenFor(userId: string): Promise<string>;
  renew(userId: string): Promise<void>;
};
declare const organizationId: string;
declare const currentPeriodEnd: number;
declare const invoice: { readonly id: string };

declare const vendor: {
  video(id: string): Extract<import('@questline/ai-sdk').AiSdkMediaModel, { type: 'video' }>['model'];
};
declare const abilities: NonNullable<import('@questline/core/ports').ModelInfo['video']>;
declare const orders: {
  find(
    userId: string,
    number: string,
    options: object,
  ): Promise<Readonly<Record<string, string>> | undefined>;
};
declare const openMyStore: () => Promise<import('@questline/core/ports').Store & { close(): Promise<void> }>;

/** Packages that readers install, but the workspace does not. */
declare module '@ai-sdk/mistral' {
  export { createOpenAI as createMistral } from '@ai-sdk/openai';
}
declare module '@opentelemetry/sdk-node' {
  export class NodeSDK {
    constructor(options: { readonly serviceName: string });
    start(): void;
  }
}

declare const createServices: Core['createServices'];
declare const createApi: Core['createApi'];
declare const toFetchHandler: Core['toFetchHandler'];
declare const fromCredits: Core['fromCredits'];
declare const toExpress: typeof import('@questline/express').toExpress;
declare const show: (value: unknown) => void;
