import { useEffect, useState } from 'preact/hooks';
import type { HostSession } from '../../src/settings.ts';

const KEPT = 'questline.signing-in';
/** A sign-in that comes back sooner than this and is still not accepted would go round in circles. */
const CIRCLE_MS = 10_000;

/** The host signs users in: leads there, or says so. @param host absent: the server has no sign-in at all. */
export function SignedOut({ host }: { host: HostSession | undefined }) {
  const signInUrl = host?.signInUrl;
  const [isCircle] = useState(() => Date.now() - Number(sessionStorage.getItem(KEPT)) < CIRCLE_MS);
  useEffect(() => {
    if (signInUrl === undefined || isCircle) return;
    sessionStorage.setItem(KEPT, String(Date.now()));
    location.assign(signInUrl);
  }, [signInUrl]);
  return (
    <main class="door">
      <div>
        <h1>You are signed out</h1>
        <p class="quiet">
          {host === undefined
            ? 'This server has no sign-in: it needs a mail server for sign-in codes, or the session of your site (the option "session" of the console).'
            : isCircle
              ? 'This site has signed you in, but its session is not accepted here.'
              : 'Sign in to this site, then open this page again.'}
        </p>
        {signInUrl !== undefined && (
          <a class="button primary" href={signInUrl}>
            Sign in
          </a>
        )}
      </div>
    </main>
  );
}
