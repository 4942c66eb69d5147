import { Menu as MenuIcon, MessageSquarePlus } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { AppContext, useApp } from './context.ts';
import { type Get, go, useLoad, useMedia, usePlace } from './hooks.ts';
import { Icon } from './parts/icon.tsx';
import { Sidebar } from './parts/sidebar.tsx';
import { Tabs } from './parts/tabs.tsx';
import { Waiting } from './parts/view.tsx';
import { ACCOUNT, ADMINISTRATION } from './places.ts';
import type { User } from './records.ts';
import type { Session } from './session.ts';
import { Chat } from './views/chat.tsx';
import { isPage, Page } from './views/page.tsx';

const NARROW = '(max-width: 52rem)';

/** The page of a signed-in user: the sidebar, and one view. */
export function Workspace() {
  const app = useApp();
  const who = useLoad('who', (get) => findUser(get, app.session));
  const [wanted = 'chat', id] = usePlace();
  const place = isPage(wanted) ? wanted : 'chat';
  const [changes, setChanges] = useState(0);
  const isNarrow = useMedia(NARROW);
  const [changed, setChanged] = useState<User>();
  const user = changed ?? who.data;
  const sidebar = <Sidebar place={place} id={id} changes={changes} onSignOut={useSignOut()} />;
  return (
    <AppContext.Provider value={{ ...app, user, onUserChange: setChanged }}>
      <div class="workspace">
        <button type="button" class="skip" onClick={focusContent}>
          Skip to content
        </button>
        {isNarrow ? (
          <TopBar place={`${place} ${id}`}>{sidebar}</TopBar>
        ) : (
          <nav class="sidebar" aria-label="Workspace">
            <p class="brand">
              <img src="icon.svg" alt="" width="22" height="22" /> Questline
            </p>
            {sidebar}
          </nav>
        )}
        <main id="main" tabIndex={-1}>
          <Waiting of={who} />
          {user !== undefined && (
            <>
              <Chat
                id={place === 'chat' ? id : undefined}
                isShown={place === 'chat'}
                onChange={() => setChanges((before) => before + 1)}
              />
              {place !== 'chat' && (
                <div class="page" key={place}>
                  <Tabs label="Account" places={ACCOUNT} current={place} />
                  {user.isAdmin && <Tabs label="Administration" places={ADMINISTRATION} current={place} />}
                  <Page place={place} id={id} />
                </div>
              )}
            </>
          )}
        </main>
      </div>
    </AppContext.Provider>
  );
}

/** Cookies of a host have no token behind them that could be identified. */
async function findUser(get: Get, { host }: Session): Promise<User> {
  if (host === undefined || 'tokenUrl' in host) return (await get<{ user: User }>('/api/identify')).user;
  const { id } = await get<{ id: string }>('/api/v1/me');
  return get<User>(`/api/users/${id}`);
}

/** The bar of a narrow screen. Its menu is a modal dialog, which traps the focus. */
function TopBar({ place, children }: { place: string; children: ComponentChildren }) {
  const ref = useRef<HTMLDialogElement>(null);
  // A choice closes the menu.
  useEffect(() => ref.current?.close(), [place]);
  return (
    <>
      <header class="topbar">
        <button
          type="button"
          class="ghost icon-only"
          aria-label="Menu"
          onClick={() => ref.current?.showModal()}
        >
          <Icon of={MenuIcon} size={22} />
        </button>
        <p class="brand">Questline</p>
        <a class="button ghost icon-only" href="#/chat" aria-label="New conversation">
          <Icon of={MessageSquarePlus} size={20} />
        </a>
      </header>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog, and Enter clicks a link. */}
      <dialog
        ref={ref}
        class="drawer"
        aria-label="Menu"
        onClick={(event) => {
          // Also a link to the page that is shown already.
          if (event.target === ref.current || (event.target as Element).closest('a')) ref.current?.close();
        }}
      >
        <nav aria-label="Workspace">{children}</nav>
      </dialog>
    </>
  );
}

function focusContent(): void {
  (document.getElementById('message') ?? document.getElementById('main'))?.focus();
}

/** Undefined where the host has no way to sign out. */
function useSignOut(): (() => void) | undefined {
  const { call, session } = useApp();
  const { host } = session;
  if (host !== undefined) {
    const { signOutUrl } = host;
    return signOutUrl === undefined ? undefined : () => location.assign(signOutUrl);
  }
  return () => {
    // Revokes the token on the server; the page deletes it even when that fails.
    void call('GET', '/api/logout')
      .catch(() => undefined)
      .then(() => {
        session.end();
        go();
        location.reload();
      });
  };
}
