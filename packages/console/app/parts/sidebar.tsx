import { LogOut, MessageSquarePlus, ShieldUser } from 'lucide';
import { useApp } from '../context.ts';
import { ACCOUNT, ADMINISTRATION, LIBRARY, offered, type Place } from '../places.ts';
import { Conversations } from './conversations.tsx';
import { initials } from './format.ts';
import { Icon } from './icon.tsx';
import { ThemeSwitch } from './theme.tsx';

interface SidebarProps {
  readonly place: string;
  readonly id: string | undefined;
  /** Grows when a conversation is added. */
  readonly changes: number;
  readonly onSignOut: (() => void) | undefined;
}

export function Sidebar({ place, id, changes, onSignOut }: SidebarProps) {
  const { hidden, user } = useApp();
  const hasChat = !hidden.includes('chat');
  return (
    <div class="sidebar-inside">
      {hasChat && (
        <a class="button new-chat" href="#/chat">
          <Icon of={MessageSquarePlus} /> New conversation
        </a>
      )}
      <ul class="places">
        {offered(LIBRARY, hidden).map((one) => (
          <li key={one.name}>
            <PlaceLink place={one} isCurrent={one.name === place} />
          </li>
        ))}
      </ul>
      {hasChat && user !== undefined ? (
        <Conversations current={place === 'chat' ? id : undefined} changes={changes} />
      ) : (
        <span class="spring" />
      )}
      <Foot place={place} onSignOut={onSignOut} />
    </div>
  );
}

function PlaceLink({ place: { name, title, icon }, isCurrent }: { place: Place; isCurrent: boolean }) {
  return (
    <a href={`#/${name}`} aria-current={isCurrent ? 'page' : undefined}>
      <Icon of={icon} />
      {title}
    </a>
  );
}

function Foot({ place, onSignOut }: { place: string; onSignOut: (() => void) | undefined }) {
  const { user, hidden } = useApp();
  const [account] = offered(ACCOUNT, hidden);
  const [administration] = offered(ADMINISTRATION, hidden);
  const isIn = (places: readonly Place[]): 'page' | undefined =>
    places.some(({ name }) => name === place) ? 'page' : undefined;
  return (
    <div class="foot">
      {user?.isAdmin === true && administration !== undefined && (
        <a href={`#/${administration.name}`} aria-current={isIn(ADMINISTRATION)}>
          <Icon of={ShieldUser} />
          Administration
        </a>
      )}
      {account !== undefined && user !== undefined && (
        <a class="me" href={`#/${account.name}`} aria-current={isIn(ACCOUNT)}>
          <span class="avatar" aria-hidden="true">
            {initials(user.username)}
          </span>
          <span class="hidden">Account</span>
          <span class="me-names">
            <span>{user.username}</span>
            <span class="quiet small-text">{user.email}</span>
          </span>
        </a>
      )}
      <div class="foot-row">
        <ThemeSwitch />
        {onSignOut !== undefined && (
          <button
            type="button"
            class="ghost icon-only"
            aria-label="Sign out"
            title="Sign out"
            onClick={onSignOut}
          >
            <Icon of={LogOut} />
          </button>
        )}
      </div>
    </div>
  );
}
