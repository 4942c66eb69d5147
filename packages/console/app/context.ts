import type { Client } from '@questline/client';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Call } from './api.ts';
import type { Draw } from './diagram/draw.ts';
import type { Ask } from './parts/ask.tsx';
import type { User } from './records.ts';
import type { Session } from './session.ts';

/** What every part of the page shares. */
export interface App {
  readonly call: Call;
  /** For event streams. */
  readonly client: Client;
  /** From the page to the root of the API. */
  readonly root: string;
  readonly session: Session;
  /** Pages whose operations the API leaves out. */
  readonly hidden: readonly string[];
  readonly draw: Draw;
  readonly ask: Ask;
  /** Undefined: not signed in yet. */
  readonly user: User | undefined;
  /** Shows the changed user everywhere. */
  readonly onUserChange: (user: User) => void;
  /** Unsent text, by conversation: it survives a visit to another page. */
  readonly drafts: Map<string, string>;
}

export const AppContext = createContext<App | undefined>(undefined);

export function useApp(): App {
  const app = useContext(AppContext);
  if (app === undefined) throw new Error('useApp outside of the app');
  return app;
}
