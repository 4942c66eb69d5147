import { Users as UsersIcon } from 'lucide';
import { useState } from 'preact/hooks';
import { useLoad } from '../hooks.ts';
import { Table } from '../parts/table.tsx';
import { Badge, Empty, View, Waiting } from '../parts/view.tsx';
import type { User } from '../records.ts';
import { UserActions } from './user-actions.tsx';

interface UserPage {
  readonly users: readonly User[];
  readonly pagination: { readonly page: number; readonly pages: number; readonly total: number };
}

export function Users() {
  const [search, setSearch] = useState('');
  const [page, setPage] = useState(1);
  const query = new URLSearchParams({ page: String(page), limit: '25', ...(search !== '' && { search }) });
  const list = useLoad(`users ${query}`, (get) => get<UserPage>(`/api/users?${query}`));
  const pages = list.data?.pagination.pages ?? 1;
  return (
    <View
      title="Users"
      lead="Every account of this workspace."
      actions={
        <input
          type="search"
          aria-label="Search users"
          placeholder="Search users"
          value={search}
          onInput={(event) => {
            setPage(1);
            setSearch(event.currentTarget.value);
          }}
        />
      }
    >
      <Waiting of={list} />
      <Table
        caption="Accounts"
        rows={list.data?.users}
        getKey={({ _id }) => _id}
        empty={<Empty icon={UsersIcon} title="No users found." />}
        columns={[
          { head: 'Name', cell: ({ username }) => username },
          { head: 'E-mail', cell: ({ email }) => email },
          {
            head: 'Role',
            cell: ({ isAdmin, disabled }) => (
              <>
                {isAdmin ? 'admin' : 'user'} {disabled === true && <Badge state="disabled" />}
              </>
            ),
          },
          {
            head: 'Actions',
            isActions: true,
            cell: (user) => <UserActions user={user} onChange={list.reload} />,
          },
        ]}
      />
      {pages > 1 && (
        <div class="pager">
          <button type="button" disabled={page <= 1} onClick={() => setPage(page - 1)}>
            Back
          </button>
          <span class="quiet">
            Page {page} of {pages}
          </span>
          <button type="button" disabled={page >= pages} onClick={() => setPage(page + 1)}>
            Next
          </button>
        </div>
      )}
    </View>
  );
}
