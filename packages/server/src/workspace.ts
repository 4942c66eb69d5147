import {
  type Api,
  createApi,
  createDemoProvider,
  createServices,
  type ModelProvider,
  type Observer,
  type Services,
  type Settings,
} from '@questline/core';
import { createIds, createSystemClock } from '@questline/core/memory';
import { createDocumentExtractor } from '@questline/documents';
import { firstModel, withEmbedding } from './demo.ts';
import { loadDocsBundle } from './docs-bundle.ts';
import type { Configuration } from './environment/configuration.ts';
import type { Log } from './log.ts';
import { openMailer } from './mail.ts';
import { createProviders } from './providers.ts';
import type { SecretsFile } from './secrets.ts';
import { checkEncryptionKey, keepEncryptionKey } from './storage/deployment.ts';
import { openObjects } from './storage/objects.ts';
import { openStorage } from './storage/storage.ts';
import { type Questions, questionsTo } from './watching/readiness.ts';
import { createLazyWebTools } from './web-tools.ts';

/** The service of this process, ready to be served. */
export interface Workspace {
  readonly services: Services;
  readonly api: Api;
  /** Whether its parts answer. */
  readonly questions: Questions;
  /** Where everything is kept, in words. */
  readonly place: string;
  close(): Promise<void>;
}

export interface WorkspaceOptions {
  readonly configuration: Configuration;
  readonly secrets: SecretsFile;
  readonly publicUrl: string;
  readonly log: Log;
  /** Shows something to the person at the terminal. */
  readonly print: (text: string) => void;
  /** With models that need no key, and credits that are really spent. */
  readonly demo: boolean;
  readonly observers: readonly Observer[];
  /** Told of every failure that goes into the log. */
  readonly onFailure: ((operation: string) => void) | undefined;
}

/** @throws Mistake when mails cannot be sent, the bucket cannot be used, or the data cannot be opened, or was begun with another encryption key. */
export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const { configuration, secrets, log, demo } = options;
  // First, because these change nothing.
  const mailer = await openMailer({ ...configuration, ...options });
  const objects = await openObjects(configuration, demo);
  const clock = createSystemClock();
  const ids = createIds({ clock });
  const key = secrets.values.SECRET_ENCRYPTION_KEY;
  const [providers, storage] = await Promise.all([
    createProviders(configuration),
    openStorage({
      configuration,
      demo,
      clock,
      ids,
      log,
      inspect: (store) => checkEncryptionKey(store, key, secrets.made.includes('SECRET_ENCRYPTION_KEY')),
    }),
  ]);
  try {
    const { store } = storage.ports;
    // The secrets first: a fingerprint of a key that was lost on the way would lock everybody out.
    secrets.save();
    await keepEncryptionKey(store, key);
    const models = demo ? [...providers, createDemoProvider({ clock })] : withEmbedding(providers);
    const services = createServices(
      {
        ...storage.ports,
        objects,
        models,
        mailer,
        web: createLazyWebTools(),
        extractors: [createDocumentExtractor()],
        clock,
        ids,
      },
      settingsOf(options, models),
    );
    const api = createApi(services);
    return {
      services,
      api,
      questions: questionsTo(services, storage.pingRedis),
      place: storage.place,
      async close() {
        await api.close();
        await storage.close();
      },
    };
  } catch (error) {
    await storage.close();
    throw error;
  }
}

function settingsOf(
  { configuration, secrets, publicUrl, log, demo, observers, onFailure }: WorkspaceOptions,
  models: readonly ModelProvider[],
): Settings {
  return {
    jwtSecret: secrets.values.JWT_SECRET,
    sessionSecret: secrets.values.SESSION_SECRET,
    secretEncryptionKey: secrets.values.SECRET_ENCRYPTION_KEY,
    publicUrl,
    appName: configuration.appName,
    docsBundle: loadDocsBundle,
    unknownPaths: 'not-found',
    admin: {
      enforceCredits: demo || !configuration.selfHost,
      DefaultAPIModel: firstModel(models),
      DefaultImageModel: firstModel(models, 'image'),
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
