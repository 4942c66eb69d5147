import type { EngineAddress } from '../../../packages/sql/test/engines.ts';
import type { SignInAnswer } from '../../support/sign-in.ts';

export type Registration = 'open' | 'closed';

/** A call of somebody not signed in. */
export interface Call {
  readonly registration: Registration;
  readonly path: '/api/otc/send' | '/api/otc/verify';
  readonly body: { readonly email: string } & Readonly<Record<string, string | undefined>>;
  /** The client's address. */
  readonly from: string;
}

export interface Answer extends SignInAnswer {
  /** The last one mailed to the address. */
  readonly code: string | undefined;
}

/** What the parent tells a process. */
export type Order =
  | { readonly kind: 'open'; readonly address: EngineAddress }
  | { readonly kind: 'calls'; readonly calls: readonly Call[] }
  | { readonly kind: 'end' };
