import { isIP } from 'node:net';
import type { SecureContextOptions } from 'node:tls';

/**
 * How the way to the server is encrypted. `tls`: from the first byte. `starttls`: before anything is said, or not at all.
 * `offered`: if the server offers it. `none`: never.
 */
export type Security = 'tls' | 'starttls' | 'offered' | 'none';

export interface SmtpOptions {
  readonly host: string;
  /** Default 587. */
  readonly port?: number;
  /** Credentials at the server. Default: no login. */
  readonly username?: string;
  readonly password?: string;
  /** The sender's address: `sender@example.com`. */
  readonly from: string;
  /** The sender's name, as readers see it. */
  readonly fromName?: string;
  /**
   * Default: `tls` on port 465, `starttls` on port 587 and wherever a password would go over a network, else `offered`.
   */
  readonly security?: Security;
  /** Trusted certificate authorities, e.g. `{ ca }`. Default: the authorities of Node. */
  readonly tls?: Pick<SecureContextOptions, 'ca' | 'cert' | 'key' | 'minVersion'>;
  /** Timeout of one mail, from the first packet to the server's confirmation. Default 15,000 ms. */
  readonly timeoutMs?: number;
}

/** What a password is worth on this way is decided once, by where it goes. */
export function toSecurity({ security, port = 587, host, password }: SmtpOptions): Security {
  if (security !== undefined) return security;
  if (port === 465) return 'tls';
  return port === 587 || (password !== undefined && !isLoopback(host)) ? 'starttls' : 'offered';
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
