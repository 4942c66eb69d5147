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
  let isListening = false;
  let end: (() => Promise<void>) | undefined;
  let notBefore = 0;
  let isClosed = false;

  const hear = (message: string): void => {
    const revocation = parse(message);
    if (revocation !== undefined) onRevocation(revocation);
  };

  const subscribe = async (): Promise<void> => {
    isListening = true;
    try {
      end = await publisher.subscribe(TOPIC, hear);
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
