import {
  API_KEYS,
  createDemoProvider,
  createUser,
  issueApiKey,
  type ModelInfo,
  type ModelProvider,
  OFFERED_SCOPES,
  revokeApiKey,
  type Services,
  toCredits,
  USERS,
} from '@questline/core';

export interface Demo {
  /** Signs in to the console. */
  readonly email: string;
  /** The one API key, known only now. */
  readonly key: string;
  /** Credits that can be spent. */
  readonly balance: number;
  /** The model that the first look asks. */
  readonly model: string;
}

const EMAIL = 'demo@example.com';
const KEY_NAME = 'Demo';
/** Micro-credits, given once per account: 1000 credits. */
const CREDIT = 1_000_000_000;

/** An account with credit and a fresh key. What an earlier start left is used again, but for its keys: only their hashes were kept. */
export async function prepareDemo(services: Services): Promise<Demo> {
  const userId = await findAccount(services);
  const account = `user:${userId}`;
  await services.ledger.grant({ account, amount: CREDIT, key: 'demo', reason: 'Demo credit' });
  const old = await services.store.collection(API_KEYS).find({ userId, status: 'active' });
  for (const record of old.filter(({ name }) => name === KEY_NAME)) {
    await revokeApiKey(services, userId, record.id);
  }
  const { key } = await issueApiKey(services, {
    userId,
    name: KEY_NAME,
    scopes: OFFERED_SCOPES,
    mode: 'test',
  });
  const { available } = await services.ledger.balance(account);
  return {
    email: EMAIL,
    key,
    balance: toCredits(available),
    model: firstModel(services.providers) ?? 'demo-chat',
  };
}

async function findAccount(services: Services): Promise<string> {
  const made = await createUser(services, { email: EMAIL, username: 'demo', isAdmin: true });
  if (made !== undefined) return made.id;
  const [known] = await services.store.collection(USERS).find({ email: EMAIL }, { limit: 1 });
  if (known === undefined) throw new Error('the demo account can be neither made nor found');
  return known.id;
}

/**
 * The model to begin with, until the administrator chooses another one: of the provider that is preferred; the offline one
 * stands last. Null: there is none.
 */
export function firstModel(
  providers: readonly ModelProvider[],
  wanted: ModelInfo['type'] = 'text',
): string | null {
  const models = providers.flatMap((provider) => provider.models());
  const found = models.find(
    ({ type, prices, managedRuntime }) => type === wanted && prices !== undefined && managedRuntime !== true,
  );
  return found?.id ?? null;
}

/** Data lakes work without any key: where no provider embeds, the offline model does, and says so in its name. */
export function withEmbedding(providers: readonly ModelProvider[]): readonly ModelProvider[] {
  const isEmbedding = ({ type }: ModelInfo): boolean => type === 'embedding';
  if (providers.some((provider) => provider.models().some(isEmbedding))) return providers;
  const demo = createDemoProvider();
  const models = demo.models().filter(isEmbedding);
  return [...providers, { ...demo, models: () => models }];
}
