import {
  createDemoProvider,
  createUser,
  issueApiKey,
  revokeApiKey,
  type Services,
  toCredits,
  USERS,
} from '@questline/core';
import { API_KEYS, findDefaultChatModel, OFFERED_SCOPES } from '@questline/core/internal';
import type { ModelInfo, ModelProvider } from '@questline/core/ports';

export interface Demo {
  /** The address to sign in with at the console. */
  readonly email: string;
  /** The API key; only its hash is stored. */
  readonly key: string;
  /** Available credits. */
  readonly balance: number;
  /** The model in the example request. */
  readonly model: string;
}

const EMAIL = 'demo@example.com';
const KEY_NAME = 'Demo';
/** Micro-credits, granted once per account: 1000 credits. */
const CREDIT = 1_000_000_000;

/** Finds or creates the demo account, and issues a new key: earlier keys are stored as hashes only. */
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
    model: findDefaultChatModel(services.catalogue, true)?.info.id ?? 'demo-chat',
  };
}

async function findAccount(services: Services): Promise<string> {
  const made = await createUser(services, { email: EMAIL, username: 'demo', isAdmin: true });
  if (made !== undefined) return made.id;
  const [known] = await services.store.collection(USERS).find({ email: EMAIL }, { limit: 1 });
  if (known === undefined) throw new Error('the demo account could not be created or found');
  return known.id;
}

/** Data lakes work without a provider key: the offline model computes embeddings if no provider does. */
export function withEmbedding(providers: readonly ModelProvider[]): readonly ModelProvider[] {
  const isEmbedding = ({ type }: ModelInfo): boolean => type === 'embedding';
  if (providers.some((provider) => provider.models().some(isEmbedding))) return providers;
  const demo = createDemoProvider();
  const models = demo.models().filter(isEmbedding);
  return [...providers, { ...demo, models: () => models }];
}
