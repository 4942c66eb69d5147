import {
  type Api,
  ConfigurationError,
  createApi,
  createDemoProvider,
  createServices,
  type Services,
  type Settings,
  USERS,
} from '@questline/core';
import { createIds, createSystemClock } from '@questline/core/memory';
import type { Observer } from '@questline/core/ports';
import { createDemoMedia } from '@questline/demo-media';
import { createDocumentExtractor } from '@questline/documents';
import { CliError } from './cli-error.ts';
import { withEmbedding } from './demo.ts';
import { loadDocsBundle } from './docs-bundle.ts';
import type { Configuration } from './environment/configuration.ts';
import { readImportedModels } from './imported-models.ts';
import type { Log } from './log.ts';
import { openMailer } from './mail.ts';
import { type Questions, questionsTo } from './observability/readiness.ts';
import { createProviders } from './providers.ts';
import type { SecretsFile } from './secrets.ts';
import { createSetupCode } from './setup-code.ts';
import { openChargeArchive } from './storage/charge-archive.ts';
import { checkSecrets, keepSecrets } from './storage/deployment.ts';
import { openObjects } from './storage/objects.ts';
import { openStorage } from './storage/storage.ts';
import { createLazyWebTools } from './web-tools.ts';
import { createLazyWebhookSender } from './webhook-sender.ts';

/** A running service, ready to be served. */
export interface Workspace {
  readonly services: Services;
  readonly api: Api;
  /** The checks of its dependencies. */
  readonly questions: Questions;
  /** Where data is stored, for people. */
  readonly place: string;
  /** The invite code of the first account. Undefined: not needed, or an account exists. */
  readonly setupCode: string | undefined;
  close(): Promise<void>;
}

export interface WorkspaceOptions {
  readonly configuration: Configuration;
  readonly secrets: SecretsFile;
  readonly publicUrl: string;
  readonly log: Log;
  /** Prints to the terminal. */
  readonly print: (text: string) => void;
  /** Demo mode: models that need no key, and enforced credits. */
  readonly demo: boolean;
  readonly observers: readonly Observer[];
  /** Called for every failure that is logged. */
  readonly onFailure: ((operation: string) => void) | undefined;
}

/** @throws CliError when mail, bucket or data cannot be used, or the data was created with another encryption key. */
export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const { configuration, secrets, log, demo } = options;
  // First, because these change nothing.
  const imported = await readImportedModels(configuration.storageDir);
  const mailer = await openMailer({ ...configuration, ...options });
  const objects = await openObjects(configuration, demo);
  const clock = createSystemClock();
  const ids = createIds({ clock });
  const [providers, storage] = await Promise.all([
    createProviders({
      ...configuration,
      onListingError: (error) => log.warn({ error }, 'the models at OPENAI_BASE_URL could not be listed'),
    }),
    openStorage({
      configuration,
      demo,
      clock,
      ids,
      log,
      async inspect(store) {
        secrets.checkNew();
        await checkSecrets(store, secrets);
      },
    }),
  ]);
  try {
    const { store } = storage.ports;
    // Before the database stores a fingerprint of the key: if the key were lost afterwards, the data would be unusable.
    secrets.save();
    await keepSecrets(store, secrets.values);
    const models = demo
      ? [...providers, createDemoProvider({ clock, media: createDemoMedia({ clock }) })]
      : withEmbedding(providers);
    const extractors = [createDocumentExtractor()];
    const services = createServices(
      {
        ...storage.ports,
        objects,
        models,
        mailer,
        web: createLazyWebTools(configuration.braveApiKey, extractors),
        webhooks: createLazyWebhookSender(configuration.webhooksPrivate),
        extractors,
        clock,
        ids,
      },
      {
        ...getSettings(options, imported),
        ...openChargeArchive(configuration, demo, async () => objects),
      },
    );
    // The server starts the worker when it is ready.
    const api = createApi(services, { worker: false });
    return {
      services,
      api,
      questions: questionsTo(services, storage.pingRedis),
      place: storage.place,
      setupCode: await neededSetupCode(services),
      async close() {
        await api.close();
        await storage.close();
      },
    };
  } catch (error) {
    await storage.close();
    throw error instanceof ConfigurationError ? toCliError(error) : error;
  }
}

/** The only settings that can be wrong here name models: the environment is valid by itself. */
function toCliError({ issues }: ConfigurationError): CliError {
  return new CliError(issues.map((issue) => issue.replace(/^settings\.fallbacks\./, 'MODEL_FALLBACKS: ')));
}

/** @returns undefined when an account exists or no code is needed. */
async function neededSetupCode({ store, setupCode }: Services): Promise<string | undefined> {
  if (setupCode === undefined) return undefined;
  return (await store.collection(USERS).find({}, { limit: 1 })).length === 0 ? setupCode : undefined;
}

function getSettings(
  { configuration, secrets, publicUrl, log, demo, observers, onFailure }: WorkspaceOptions,
  models: NonNullable<Settings['models']>,
): Settings {
  return {
    jwtSecret: secrets.values.JWT_SECRET,
    sessionSecret: secrets.values.SESSION_SECRET,
    secretEncryptionKey: secrets.values.SECRET_ENCRYPTION_KEY,
    publicUrl,
    appName: configuration.appName,
    enrichment: configuration.enrichment,
    requestTimeoutMs: configuration.requestTimeoutMs,
    ...(configuration.fallbacks !== undefined && { fallbacks: configuration.fallbacks }),
    tokenLifetimes: configuration.tokenLifetimes,
    ...(configuration.retention !== undefined && { retention: configuration.retention }),
    ...(configuration.keepNewest !== undefined && { keepNewest: configuration.keepNewest }),
    auditRetentionDays: configuration.auditRetentionDays ?? null,
    ...(configuration.mail !== undefined && { setupCode: createSetupCode(secrets.values.SESSION_SECRET) }),
    docsBundle: loadDocsBundle,
    unknownPaths: 'not-found',
    rateLimits: configuration.rateLimits,
    paidCallsPerDay: configuration.paidCallsPerDay,
    admission: configuration.admission,
    models,
    admin: {
      enforceCredits: demo || !configuration.selfHost,
      ...(demo && { EnableDataLakes: true }),
    },
    ...(configuration.selfHost && { hideModel: (model) => model.managedRuntime === true }),
    observers,
    onError({ operation, requestId, error }) {
      log.error({ operation, requestId, error }, 'failed');
      onFailure?.(operation);
    },
  };
}
