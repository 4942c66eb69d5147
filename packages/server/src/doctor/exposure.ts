import { isIP } from 'node:net';
import type { Configuration } from '../environment/configuration.ts';
import type { Finding } from './finding.ts';

const SUBJECT = 'exposure';
/** The port where mail catchers such as Mailpit show all mails. */
const MAIL_PAGE_PORT = 8025;
const MAIL_PAGE_TIMEOUT_MS = 1500;

type Exposed = Pick<Configuration, 'publicUrl' | 'trustProxy' | 'mail'>;

/**
 * Reports what other hosts on the network could reach, judged by the settings.
 * @param host the address to listen on; undefined: every address.
 */
export function findExposure(
  { publicUrl, trustProxy }: Exposed,
  host: string | undefined,
): readonly Finding[] {
  const isLocal = host !== undefined && isLoopback(host);
  const published = publicUrl === undefined ? undefined : new URL(publicUrl);
  const isSecure = published?.protocol === 'https:';
  const found: Finding[] = [];
  if (!isLocal && !isSecure) {
    found.push({
      subject: SUBJECT,
      state: 'warning',
      message: 'listens on the network over plain HTTP: codes, tokens and keys can be intercepted',
      advice:
        'put a TLS proxy in front and set PUBLIC_URL to its https address, or start with --host 127.0.0.1',
    });
  }
  if (isSecure && !trustProxy) {
    found.push({
      subject: SUBJECT,
      state: 'warning',
      message:
        'PUBLIC_URL is https, so there is a proxy, but TRUST_PROXY is false: all users share one client address',
      advice: 'set TRUST_PROXY=true if the proxy sets X-Forwarded-For itself',
    });
  }
  if (trustProxy && !isSecure) {
    found.push({
      subject: SUBJECT,
      state: 'warning',
      message:
        'TRUST_PROXY is true, but PUBLIC_URL names no proxy: a client that connects directly can forge its address',
      advice: 'set TRUST_PROXY=false, or set PUBLIC_URL to the address of the proxy',
    });
  }
  return found;
}

/** Checks whether the mail catcher at MAIL_HOST shows its mails, including sign-in codes, to the network. */
export async function findMailPage({ mail }: Exposed): Promise<readonly Finding[]> {
  if (mail === undefined || isLoopback(mail.host)) return [];
  try {
    const signal = AbortSignal.timeout(MAIL_PAGE_TIMEOUT_MS);
    const answer = await fetch(`http://${mail.host}:${MAIL_PAGE_PORT}/`, { signal, redirect: 'manual' });
    await answer.body?.cancel();
  } catch {
    return [];
  }
  return [
    {
      subject: SUBJECT,
      state: 'warning',
      message: `a web page at ${mail.host}:${MAIL_PAGE_PORT} may show mails, including every sign-in code`,
      advice: 'publish it on 127.0.0.1 only, and use a real mail service before other people sign in',
    },
  ];
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
