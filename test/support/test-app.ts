import { setImmediate as turn } from 'node:timers/promises';
import {
  type Api,
  createApi,
  createServices,
  createUser,
  fromCredits,
  type Incident,
  type IssuedApiKey,
  issueApiKey,
  type NewApiKey,
  type Route,
  type Services,
  type Settings,
  toFetchHandler,
  type UserRecord,
} from '@questline/core';
import {
  createMemoryLedger,
  createMemoryLimiter,
  createMemoryMailer,
  createMemoryStore,
  type MemoryMailer,
} from '@questline/core/memory';
import type {
  CreditLedger,
  EventLog,
  Identity,
  JobQueue,
  Mail,
  Mailer,
  ModelProvider,
  Moderator,
  ObjectStore,
  Publisher,
  RateLimiter,
  Store,
  TextExtractor,
  VectorIndex,
  WebhookSender,
  WebTools,
} from '@questline/core/ports';
import { createFakeClock, createFakeIds, type FakeClock } from '@questline/testing';

/** A time before the end of the deprecated `name` in error bodies. */
export const NOW = Date.UTC(2026, 10, 21, 12);

const ACCEPTING: WebhookSender = {
  isAllowed: async () => true,
  send: async () => ({ outcome: 'answered', status: 200 }),
};

/** The ports that an engine provides. */
export interface EnginePorts {
  readonly store: Store;
  readonly ledger: CreditLedger;
  readonly limiter: RateLimiter;
  readonly queue: JobQueue;
  readonly vectors: VectorIndex;
  readonly eventLog: EventLog;
}

export interface TestAppOptions {
  readonly models?: readonly ModelProvider[];
  readonly settings?: Partial<Settings>;
  /** Credits of the first user. Default 1000. */
  readonly credits?: number;
  readonly key?: Partial<NewApiKey>;
  readonly ledger?: (ledger: CreditLedger) => CreditLedger;
  readonly store?: (store: Store) => Store;
  /** Replaces ports in memory. */
  readonly ports?: (given: Pick<Services, 'clock' | 'ids'>) => Partial<EnginePorts>;
  readonly publisher?: Publisher;
  readonly eventLog?: EventLog;
  readonly web?: WebTools;
  readonly objects?: ObjectStore;
  readonly extractors?: readonly TextExtractor[];
  readonly moderator?: Moderator | null;
  /** Default: no identity port. */
  readonly identity?: Identity;
  /** Default: every receiver accepts. Null: no webhooks. */
  readonly webhooks?: WebhookSender | null;
  /** Default: a mailer that records mails. */
  readonly mailer?: (mailer: MemoryMailer) => Mailer;
  /**
   * Whether the worker starts by itself. Default: false, so that a test can inspect accepted work before it
   * runs.
   */
  readonly worker?: boolean;
  /** Additional operations of the host. */
  readonly extra?: (services: Services) => readonly Route[];
  readonly now?: number;
  /** Replaces services. */
  readonly services?: (services: Services) => Services;
}

/** A complete service on memory ports, with a manual clock, one user and an API key of that user. */
export interface TestApp {
  readonly clock: FakeClock;
  readonly services: Services;
  readonly ledger: CreditLedger;
  readonly api: Api;
  readonly user: UserRecord;
  readonly account: string;
  readonly key: string;
  readonly keyId: string;
  readonly incidents: readonly Incident[];
  readonly mails: readonly Mail[];
  issue(input: Partial<NewApiKey>): Promise<IssuedApiKey>;
  token(user?: UserRecord): Promise<string>;
  addUser(email: string): Promise<UserRecord>;
  /** Runs everything that is ready without advancing the clock. */
  settle(): Promise<void>;
  /** Sends a request through the fetch handler. */
  ask(method: string, path: string, options?: AskOptions): Promise<Response>;
}

export interface AskOptions {
  /** Default: the app's key. `null`: none. */
  readonly credential?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON unless it is text. */
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  /** Address of the client. */
  readonly from?: string;
}

export async function createTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const clock = createFakeClock(options.now ?? NOW);
  const ids = createFakeIds();
  const incidents: Incident[] = [];
  const mailer = createMemoryMailer();
  const ports = options.ports?.({ clock, ids }) ?? {};
  const memory = ports.ledger ?? createMemoryLedger({ clock });
  const base = ports.store ?? createMemoryStore();
  const ledger = options.ledger?.(memory) ?? memory;
  const own = createServices(
    {
      ...ports,
      store: options.store?.(base) ?? base,
      ledger,
      limiter: ports.limiter ?? createMemoryLimiter(),
      mailer: options.mailer?.(mailer) ?? mailer,
      models: options.models ?? [],
      ...(options.webhooks !== null && { webhooks: options.webhooks ?? ACCEPTING }),
      clock,
      ids,
      ...(options.publisher !== undefined && { publisher: options.publisher }),
      ...(options.eventLog !== undefined && { eventLog: options.eventLog }),
      ...(options.web !== undefined && { web: options.web }),
      ...(options.objects !== undefined && { objects: options.objects }),
      ...(options.extractors !== undefined && { extractors: options.extractors }),
      ...(options.moderator !== undefined && { moderator: options.moderator }),
      ...(options.identity !== undefined && { identity: options.identity }),
    },
    {
      jwtSecret: 'a'.repeat(64),
      secretEncryptionKey: 'b'.repeat(64),
      onError: (incident) => incidents.push(incident),
      ...options.settings,
    },
  );
  const services = options.services?.(own) ?? own;
  const api = createApi(services, {
    worker: options.worker ?? false,
    routes: options.extra?.(services) ?? [],
  });
  const handle = toFetchHandler(api);
  const addUser = async (email: string): Promise<UserRecord> => {
    const user = await createUser(services, { email, username: email.split('@')[0] ?? email });
    if (user === undefined) throw new Error(`${email} already has an account`);
    return user;
  };
  const user = await addUser('ada@example.com');
  const account = `user:${user.id}`;
  await ledger.grant({
    account,
    amount: fromCredits(options.credits ?? 1000),
    key: 'start',
    reason: 'start',
  });
  const issue = (input: Partial<NewApiKey>): Promise<IssuedApiKey> =>
    issueApiKey(services, { userId: user.id, name: 'test', scopes: ['ai:chat', 'me:read'], ...input });
  const { key, record } = await issue(options.key ?? {});

  return {
    clock,
    services,
    ledger,
    api,
    user,
    account,
    key,
    keyId: record.id,
    incidents,
    mails: mailer.sent,
    issue,
    addUser,
    token: (whose = user) =>
      services.tokens.sign({ id: whose.id, tokenVersion: whose.tokenVersion, typ: 'access' }),
    async settle() {
      for (let count = 0; count < 20; count += 1) await turn();
    },
    async ask(method, path, { credential = key, headers = {}, body, signal, from } = {}) {
      const request = new Request(`http://questline.test${path}`, {
        method,
        headers: {
          ...(credential !== null && { Authorization: `Bearer ${credential}` }),
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        ...(signal !== undefined && { signal }),
      });
      const response = await handle(request, { remoteAddress: from });
      return response ?? new Response('not ours', { status: 599 });
    },
  };
}
