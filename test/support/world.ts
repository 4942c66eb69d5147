import { setImmediate as turn } from 'node:timers/promises';
import {
  type Api,
  type CreditLedger,
  createApi,
  createServices,
  createUser,
  fromCredits,
  type Incident,
  type IssuedApiKey,
  issueApiKey,
  type Mail,
  type Mailer,
  type ModelProvider,
  type Moderator,
  type NewApiKey,
  type ObjectStore,
  type Publisher,
  type Route,
  type Services,
  type Settings,
  type Store,
  type TextExtractor,
  toFetchHandler,
  type UserRecord,
  type WebTools,
} from '@questline/core';
import {
  createMemoryLedger,
  createMemoryLimiter,
  createMemoryMailer,
  createMemoryStore,
  type MemoryMailer,
} from '@questline/core/memory';
import { createFakeClock, createFakeIds, type FakeClock } from '@questline/testing';

/** Before the deprecated `name` of error bodies ends. */
export const NOW = Date.UTC(2026, 10, 21, 12);

export interface WorldOptions {
  readonly models?: readonly ModelProvider[];
  readonly settings?: Partial<Settings>;
  /** Credits of the first user. Default 1000. */
  readonly credits?: number;
  readonly key?: Partial<NewApiKey>;
  readonly ledger?: (ledger: CreditLedger) => CreditLedger;
  readonly store?: (store: Store) => Store;
  readonly publisher?: Publisher;
  readonly web?: WebTools;
  readonly objects?: ObjectStore;
  readonly extractors?: readonly TextExtractor[];
  readonly moderator?: Moderator | null;
  /** Default: one that keeps what it is given. */
  readonly mailer?: (mailer: MemoryMailer) => Mailer;
  /** Operations of the host's own. */
  readonly extra?: (services: Services) => readonly Route[];
  readonly now?: number;
  /** Puts a part of the test's own in the place of another. */
  readonly services?: (services: Services) => Services;
}

/** A whole service on memory ports, with frozen time, one user and that user's key. */
export interface World {
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
  issue(wish: Partial<NewApiKey>): Promise<IssuedApiKey>;
  token(user?: UserRecord): Promise<string>;
  addUser(email: string): Promise<UserRecord>;
  /** Lets everything that is ready run, without time passing. */
  settle(): Promise<void>;
  /** One call through the fetch bridge. */
  ask(method: string, path: string, options?: AskOptions): Promise<Response>;
}

export interface AskOptions {
  /** Default: the world's key. `null`: none. */
  readonly credential?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON, unless it is text. */
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  /** The client's address. */
  readonly from?: string;
}

export async function createWorld(options: WorldOptions = {}): Promise<World> {
  const clock = createFakeClock(options.now ?? NOW);
  const ids = createFakeIds();
  const incidents: Incident[] = [];
  const mailer = createMemoryMailer();
  const memory = createMemoryLedger({ clock });
  const ledger = options.ledger?.(memory) ?? memory;
  const own = createServices(
    {
      store: options.store?.(createMemoryStore()) ?? createMemoryStore(),
      ledger,
      limiter: createMemoryLimiter(),
      mailer: options.mailer?.(mailer) ?? mailer,
      models: options.models ?? [],
      clock,
      ids,
      ...(options.publisher !== undefined && { publisher: options.publisher }),
      ...(options.web !== undefined && { web: options.web }),
      ...(options.objects !== undefined && { objects: options.objects }),
      ...(options.extractors !== undefined && { extractors: options.extractors }),
      ...(options.moderator !== undefined && { moderator: options.moderator }),
    },
    {
      jwtSecret: 'a'.repeat(64),
      secretEncryptionKey: 'b'.repeat(64),
      onError: (incident) => incidents.push(incident),
      ...options.settings,
    },
  );
  const services = options.services?.(own) ?? own;
  const api = createApi(services, options.extra?.(services));
  const handle = toFetchHandler(api);
  const addUser = async (email: string): Promise<UserRecord> => {
    const user = await createUser(services, { email, username: email.split('@')[0] ?? email });
    if (user === undefined) throw new Error(`${email} has an account already`);
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
  const issue = (wish: Partial<NewApiKey>): Promise<IssuedApiKey> =>
    issueApiKey(services, { userId: user.id, name: 'test', scopes: ['ai:chat', 'me:read'], ...wish });
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
