import type { Clock } from '../ports/clock.ts';
import type { Publisher } from '../ports/publisher.ts';

/** The changed credentials: a key or all of a user. */
export type Revocation = { readonly keyId: string } | { readonly userId: string };

/**
 * Invalidates cached credentials in other processes. A lost message only delays the invalidation, because cached
 * credentials have a short TTL.
 */
export interface Revocations {
  /** Fire and forget. */
  tell(revocation: Revocation): void;
  /** Subscribes on first use, when the cache has its first entry. */
  listen(): void;
  /** Unsubscribes permanently. */
  close(): Promise<void>;
}

const TOPIC = 'revocations';
/** Pause before a failed subscription is retried. */
const PAUSE_MS = 60_000;

export function createRevocations(services: {
  publisher: Publisher;
  clock: Clock;
  onRevocation: (revocation: Revocation) => void;
  onError: (error: unknown) => void;
}): Revocations {
  const { publisher, clock, onRevocation, onError } = services;
  let isListening = false;
  let end: (() => Promise<void>) | undefined;
  let notBefore = 0;
  let isClosed = false;

  const onMessage = (message: string): void => {
    const revocation = parse(message);
    if (revocation !== undefined) onRevocation(revocation);
  };

  const subscribe = async (): Promise<void> => {
    isListening = true;
    try {
      end = await publisher.subscribe(TOPIC, onMessage);
      if (isClosed) await end();
    } catch (error) {
      isListening = false;
      notBefore = clock.now() + PAUSE_MS;
      onError(error);
    }
  };

  return {
    async tell(revocation) {
      try {
        await publisher.publish(TOPIC, JSON.stringify(revocation));
      } catch (error) {
        onError(error);
      }
    },
    listen() {
      if (isClosed || isListening || clock.now() < notBefore) return;
      void subscribe();
    },
    async close() {
      isClosed = true;
      try {
        await end?.();
      } catch (error) {
        onError(error);
      }
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
