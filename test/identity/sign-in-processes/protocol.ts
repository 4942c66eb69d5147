import type { EngineAddress } from '../../../packages/sql/test/engines.ts';
import type { SignInAnswer } from '../../support/sign-in.ts';

export type Registration = 'open' | 'closed';

/** A call without credentials. */
export interface Call {
  readonly registration: Registration;
  readonly path: '/api/otc/send' | '/api/otc/verify' | '/api/oauth/device/token';
  readonly body: Readonly<Record<string, string | undefined>>;
  /** Address of the client. */
  readonly from: string;
}

export interface Answer extends SignInAnswer {
  /** The last code mailed to the address. */
  readonly code: string | undefined;
}

/** Messages from the parent to a process. */
export type Order =
  | { readonly kind: 'open'; readonly address: EngineAddress }
  | { readonly kind: 'calls'; readonly calls: readonly Call[] }
  | { readonly kind: 'end' };
