import { Search } from 'lucide';
import { useEffect, useState } from 'preact/hooks';
import { useLoad } from '../hooks.ts';
import type { CursorPage, Session } from '../records.ts';
import { age } from './format.ts';
import { Icon } from './icon.tsx';
import { ErrorMessage } from './view.tsx';

const SOME = 30;
const MANY = 100;

/** The event after which the list of conversations is loaded again. */
export const SESSIONS_CHANGED = 'questline:sessions';

/** The conversations, newest first. @param changes a counter that grows when a conversation is added. */
export function Conversations({ current, changes }: { current: string | undefined; changes: number }) {
  const [search, setSearch] = useState('');
  const [limit, setLimit] = useState(SOME);
  const query = new URLSearchParams({ limit: String(limit), ...(search !== '' && { search }) });
  const list = useLoad(`sessions ${query}`, (get) => get<CursorPage<Session>>(`/api/v1/sessions?${query}`));
  const { reload } = list;
  useEffect(() => {
    if (changes > 0) reload();
  }, [changes]);
  useEffect(() => {
    addEventListener(SESSIONS_CHANGED, reload);
    return () => removeEventListener(SESSIONS_CHANGED, reload);
  }, [reload]);
  const sessions = list.data?.data ?? [];
  const groups = [...new Set(sessions.map(({ lastUpdated }) => age(lastUpdated)))];

  return (
    <section class="conversations" aria-label="Conversations">
      <label class="search">
        <Icon of={Search} size={15} />
        <span class="hidden">Search conversations</span>
        <input
          type="search"
          placeholder="Search conversations"
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
      </label>
      <ErrorMessage text={list.error} />
      {list.data !== undefined && sessions.length === 0 && (
        <p class="quiet small-text">
          {search === '' ? 'Your conversations appear here.' : 'No conversation found.'}
        </p>
      )}
      {groups.map((group) => (
        <div key={group}>
          <h2 class="group">{group}</h2>
          <ul>
            {sessions
              .filter(({ lastUpdated }) => age(lastUpdated) === group)
              .map(({ id, name }) => (
                <li key={id}>
                  <a href={`#/chat/${id}`} aria-current={id === current ? 'page' : undefined} title={name}>
                    {name}
                  </a>
                </li>
              ))}
          </ul>
        </div>
      ))}
      {list.data?.next_cursor && limit < MANY && (
        <button type="button" class="ghost small" onClick={() => setLimit(MANY)}>
          Show more
        </button>
      )}
    </section>
  );
}
