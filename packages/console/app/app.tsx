import { useEffect, useState } from 'preact/hooks';
import { call, SIGNED_OUT, session } from './api.ts';
import { go, useLoad, usePlace } from './hooks.ts';
import { Waiting } from './parts/basics.tsx';
import { ThemeSwitch } from './parts/theme.tsx';
import type { User } from './records.ts';
import { Agents } from './views/agents.tsx';
import { Chat } from './views/chat.tsx';
import { DataLakes } from './views/data-lakes.tsx';
import { Files } from './views/files.tsx';
import { Generations } from './views/generations.tsx';
import { Invites } from './views/invites.tsx';
import { Keys } from './views/keys.tsx';
import { Settings } from './views/settings.tsx';
import { SignIn } from './views/sign-in.tsx';
import { Spent } from './views/usage.tsx';
import { Users } from './views/users.tsx';

const PLACES = [
  { name: 'chat', title: 'Chat' },
  { name: 'files', title: 'Files' },
  { name: 'generations', title: 'Films and music' },
  { name: 'agents', title: 'Agents' },
  { name: 'data-lakes', title: 'Data lakes' },
  { name: 'keys', title: 'API keys' },
  { name: 'usage', title: 'Usage' },
] as const;

const ADMIN_PLACES = [
  { name: 'settings', title: 'Settings' },
  { name: 'users', title: 'Users' },
  { name: 'invites', title: 'Invites' },
] as const;

export function App() {
  const [signedIn, setSignedIn] = useState(session.token() !== null);
  useEffect(() => {
    const ended = (): void => {
      session.end();
      setSignedIn(false);
    };
    addEventListener(SIGNED_OUT, ended);
    return () => removeEventListener(SIGNED_OUT, ended);
  }, []);
  if (!signedIn) {
    return (
      <SignIn
        onDone={(token) => {
          session.begin(token);
          setSignedIn(true);
        }}
      />
    );
  }
  return <Workspace />;
}

function Workspace() {
  const who = useLoad('who', (signal) => call<{ user: User }>('GET', '/api/identify', undefined, signal));
  const [place = 'chat', id] = usePlace();
  const user = who.data?.user;
  return (
    <div class="workspace">
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <nav aria-label="Workspace">
        <p class="brand">Questline</p>
        <Links places={PLACES} current={place} />
        {user?.isAdmin === true && (
          <>
            <p class="group">Administration</p>
            <Links places={ADMIN_PLACES} current={place} />
          </>
        )}
        <div class="foot">
          <ThemeSwitch />
          <p class="quiet">{user?.username}</p>
          <button type="button" onClick={signOut}>
            Sign out
          </button>
        </div>
      </nav>
      <main id="main" tabIndex={-1}>
        <Waiting of={who} />
        {user !== undefined && <Shown place={place} id={id} />}
      </main>
    </div>
  );
}

function Shown({ place, id }: { place: string; id: string | undefined }) {
  switch (place) {
    case 'files':
      return <Files />;
    case 'generations':
      return <Generations />;
    case 'agents':
      return <Agents />;
    case 'data-lakes':
      return <DataLakes />;
    case 'keys':
      return <Keys />;
    case 'usage':
      return <Spent />;
    case 'settings':
      return <Settings />;
    case 'users':
      return <Users />;
    case 'invites':
      return <Invites />;
    default:
      return <Chat id={id} />;
  }
}

function Links({ places, current }: { places: readonly { name: string; title: string }[]; current: string }) {
  return (
    <ul>
      {places.map(({ name, title }) => (
        <li key={name}>
          <a href={`#/${name}`} aria-current={name === current ? 'page' : undefined}>
            {title}
          </a>
        </li>
      ))}
    </ul>
  );
}

async function signOut(): Promise<void> {
  // Ends the token on the server too; the page forgets it in any case.
  await call('GET', '/api/logout').catch(() => undefined);
  session.end();
  go();
  location.reload();
}
