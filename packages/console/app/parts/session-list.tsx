import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { go, useAction, useLoad } from '../hooks.ts';
import type { CursorPage, Session } from '../records.ts';
import { Fault, sure } from './basics.tsx';

/** The conversations, newest first. @param changes a number that moves when one was added. */
export function SessionList({ current, changes }: { current: string | undefined; changes: number }) {
  const [search, setSearch] = useState('');
  const [limit, setLimit] = useState(25);
  const query = new URLSearchParams({ limit: String(limit), ...(search !== '' && { search }) });
  const list = useLoad(`sessions ${changes} ${query}`, (signal) =>
    call<CursorPage<Session>>('GET', `/api/v1/sessions?${query}`, undefined, signal),
  );
  const { error, run } = useAction();

  const rename = ({ id, name }: Session): void => {
    const wanted = prompt('A new name for this conversation', name)?.trim();
    if (wanted) void run(() => call('PUT', `/api/sessions/${id}`, { name: wanted })).then(list.reload);
  };
  const remove = ({ id, name }: Session): void => {
    if (!sure(`Delete “${name}” and everything said in it?`)) return;
    void run(() => call('DELETE', `/api/sessions/${id}`)).then((done) => {
      if (done && id === current) go('chat');
      list.reload();
    });
  };

  return (
    <aside class="sessions" aria-label="Conversations">
      <a class="button main" href="#/chat">
        New conversation
      </a>
      <label>
        <span class="hidden">Search conversations</span>
        <input
          type="search"
          placeholder="Search"
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
      </label>
      <Fault text={error ?? list.error} />
      <ul>
        {list.data?.data.map((one) => (
          <li key={one.id} class={one.id === current ? 'current' : ''}>
            <a href={`#/chat/${one.id}`} aria-current={one.id === current ? 'true' : undefined}>
              {one.name}
            </a>
            <button type="button" aria-label={`Rename ${one.name}`} onClick={() => rename(one)}>
              ✎
            </button>
            <button type="button" aria-label={`Delete ${one.name}`} onClick={() => remove(one)}>
              ×
            </button>
          </li>
        ))}
      </ul>
      {list.data?.next_cursor && limit < 100 && (
        <button type="button" onClick={() => setLimit(100)}>
          Show more
        </button>
      )}
    </aside>
  );
}
