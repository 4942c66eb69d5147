import type { Client, QuestlineError } from '@questline/client';
import { getCreditBalance } from '@questline/client/operations';
import { toError } from './error.ts';
import { type Attachable, createState } from './state.ts';

export interface CreditsState {
  /** Credits that can be spent now, without open reservations. Undefined: not loaded yet. */
  readonly balance: number | undefined;
  readonly error: QuestlineError | undefined;
}

export interface CreditsStore extends Attachable<CreditsState> {
  refresh(): Promise<void>;
}

/** @param onEnd registers a listener for ended work, and returns its removal. */
export function createCredits(client: Client, onEnd: (listener: () => void) => () => void): CreditsStore {
  const state = createState<CreditsState>({ balance: undefined, error: undefined });
  let attached = AbortSignal.abort();
  let latest = 0;
  const refresh = async (): Promise<void> => {
    const signal = attached;
    latest += 1;
    const number = latest;
    try {
      const { balance } = await client.call(getCreditBalance, {}, { signal });
      if (number === latest) state.set({ balance, error: undefined });
    } catch (error) {
      if (!signal.aborted && number === latest) state.update({ error: toError(error) });
    }
  };
  return {
    state,
    refresh,
    attach() {
      const controller = new AbortController();
      attached = controller.signal;
      const remove = onEnd(() => void refresh());
      void refresh();
      return () => {
        remove();
        controller.abort();
      };
    },
  };
}
