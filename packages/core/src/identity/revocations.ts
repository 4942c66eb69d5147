import type { Clock } from '../ports/clock.ts';
import type { Publisher } from '../ports/publisher.ts';

/** Whose credentials have changed. */
export type Revocation = { readonly keyId: string } | { readonly userId: string };

/**
 * Tells the other processes which credentials to look up anew. A message that is lost costs only time: nobody believes a
 * credential for long without asking the store.
 */
export interface Revocations {
  /** Nobody waits for it. */
  tell(revocation: Revocation): void;
  /** Begins to listen, unless it does. Asked for when there is something to forget, so that nothing is opened before. */
  listen(): void;
  /** Listens no more, for good. */
  close(): Promise<void>;
}

const TOPIC = 'revocations';
/** How long a refused subscription is left alone. */
const PAUSE_MS = 60_000;

export function createRevocations(services: {
  publisher: Publisher;
  clock: Clock;
  onRevocation: (revocation: Revocation) => void;
  onError: (error: unknown) => void;
}): Revocations {
  const { publisher, clock, onRevocation, onError } = services;
  let subscription: Promise<() => Promise<void>> | undefined;
  let notBefore = 0;
  let isClosed = false;

  const hear = (message: string): void => {
    const revocation = parse(message);
    if (revocation !== undefined) onRevocation(revocation);
  };

  const subscribe = async (): Promise<() => Promise<void>> => publisher.subscribe(TOPIC, hear);

  return {
    async tell(revocation) {
      try {
        await publisher.publish(TOPIC, JSON.stringify(revocation));
      } catch (error) {
        onError(error);
      }
    },
    listen() {
      if (isClosed || subscription !== undefined || clock.now() < notBefore) return;
      subscription = subscribe();
      subscription.catch((error: unknown) => {
        subscription = undefined;
        notBefore = clock.now() + PAUSE_MS;
        onError(error);
      });
    },
    async close() {
      isClosed = true;
      const end = await subscription?.catch(() => undefined);
      await end?.();
    },
  };
}

function parse(message: string): Revocation | undefined {
  try {
    const { keyId, userId } = JSON.parse(message) as { keyId?: unknown; userId?: unknown };
    if (typeof keyId === 'string') return { keyId };
    return typeof userId === 'string' ? { userId } : undefined;
  } catch {
    return undefined;
  }
}
