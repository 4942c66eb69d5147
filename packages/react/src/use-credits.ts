import { useMemo } from 'react';
import { useAttached } from './attached.ts';
import { type CreditsState, createCredits } from './credits-store.ts';
import { useQuestlineContext } from './provider.ts';

export interface Credits extends CreditsState {
  readonly refresh: () => Promise<void>;
}

/** The balance of the caller. It is loaded again when work of another hook of the same provider ends. */
export function useCredits(): Credits {
  const { client, ended } = useQuestlineContext();
  const store = useMemo(() => createCredits(client, ended.subscribe), [client, ended]);
  return { ...useAttached(store), refresh: store.refresh };
}
