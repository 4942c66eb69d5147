import { useMemo, useState } from 'preact/hooks';
import { createCall } from './api.ts';
import { createEventClient } from './client.ts';
import type { Configuration } from './config.ts';
import { type App, AppContext } from './context.ts';
import { createDraw } from './diagram/draw.ts';
import { useAsk } from './parts/ask.tsx';
import { createSession } from './session.ts';
import { SignIn } from './views/sign-in.tsx';
import { SignedOut } from './views/signed-out.tsx';
import { Workspace } from './workspace.tsx';

export function Console({ configuration }: { configuration: Configuration }) {
  const { root, hidden, session: host } = configuration;
  const session = useMemo(() => createSession(host), [host]);
  const [isSignedIn, setSignedIn] = useState(() => session.isOpen());
  const { ask, dialog } = useAsk();
  const [shared] = useState(() => ({
    call: createCall(root, session, () => {
      session.end();
      setSignedIn(false);
    }),
    client: createEventClient(root, session),
    root,
    session,
    hidden,
    draw: createDraw(),
    drafts: new Map<string, string>(),
  }));
  const app: App = { ...shared, ask, user: undefined, onUserChange: () => undefined };
  if (!isSignedIn && (host !== undefined || hidden.includes('sign-in'))) return <SignedOut host={host} />;
  return (
    <AppContext.Provider value={app}>
      {isSignedIn ? (
        <Workspace />
      ) : (
        <SignIn
          onDone={(token) => {
            session.begin(token);
            setSignedIn(true);
          }}
        />
      )}
      {dialog}
    </AppContext.Provider>
  );
}
