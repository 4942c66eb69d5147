import type { Client } from '@questline/client';
import { createContext, createElement, type ReactElement, type ReactNode, useContext, useMemo } from 'react';
import { createState, type State } from './state.ts';

export interface QuestlineContext {
  readonly client: Client;
  /** Counts the work that has ended, for the balance. */
  readonly ended: State<number>;
}

const Context = createContext<QuestlineContext | undefined>(undefined);

export interface QuestlineProviderProps {
  /** The client of all hooks below. Create it outside of components. Another client starts them anew. */
  readonly client: Client;
  readonly children?: ReactNode;
}

/** Gives the hooks below their client. */
export function QuestlineProvider({ client, children }: QuestlineProviderProps): ReactElement {
  const value = useMemo(() => ({ client, ended: createState(0) }), [client]);
  return createElement(Context.Provider, { value }, children);
}

export function useQuestlineContext(): QuestlineContext {
  const context = useContext(Context);
  if (context === undefined)
    throw new TypeError('a hook of @questline/react needs a <QuestlineProvider> above it');
  return context;
}

/** Reports the end of work that may have changed the balance. */
export function countEnd({ ended }: QuestlineContext): () => void {
  return () => ended.set(ended.get() + 1);
}

/** The client of the provider. */
export function useQuestline(): Client {
  return useQuestlineContext().client;
}
