import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { useLoad } from '../hooks.ts';
import { Table, View, Waiting } from '../parts/basics.tsx';
import type { User } from '../records.ts';

interface UserPage {
  readonly users: readonly User[];
  readonly pagination: { readonly page: number; readonly pages: number };
}

export function Users() {
  const [search, setSearch] = useState('');
  const [page, setPage] = useState(1);
  const query = new URLSearchParams({ page: String(page), limit: '25', ...(search !== '' && { search }) });
  const list = useLoad(`users ${query}`, (signal) =>
    call<UserPage>('GET', `/api/users?${query}`, undefined, signal),
  );
  const pages = list.data?.pagination.pages ?? 1;
  return (
    <View
      title="Users"
      actions={
        <label>
          <span class="hidden">Search users</span>
          <input
            type="search"
            placeholder="Search"
            value={search}
            onInput={(event) => {
              setPage(1);
              setSearch(event.currentTarget.value);
            }}
          />
        </label>
      }
    >
      <Waiting of={list} />
      <Table
        caption="Accounts"
        heads={['Name', 'E-mail', 'Role']}
        rows={list.data?.users}
        empty="Nobody was found."
        row={(user) => (
          <tr key={user._id}>
            <th scope="row">{user.username}</th>
            <td>{user.email}</td>
            <td>{user.isAdmin ? 'admin' : 'user'}</td>
          </tr>
        )}
      />
      {pages > 1 && (
        <div class="row">
          <button type="button" disabled={page <= 1} onClick={() => setPage(page - 1)}>
            Back
          </button>
          <span>
            {page} of {pages}
          </span>
          <button type="button" disabled={page >= pages} onClick={() => setPage(page + 1)}>
            Next
          </button>
        </div>
      )}
    </View>
  );
}
