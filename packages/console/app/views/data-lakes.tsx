import { Database, Plus } from 'lucide';
import { useState } from 'preact/hooks';
import { useApp } from '../context.ts';
import { useLoad, useSerialAction } from '../hooks.ts';
import { Icon } from '../parts/icon.tsx';
import { Table } from '../parts/table.tsx';
import { Badge, Empty, ErrorMessage, View, Waiting } from '../parts/view.tsx';
import type { CursorPage, DataLake } from '../records.ts';
import { LakeView } from './data-lake.tsx';
import { AddFile, NewLake, SearchLake } from './data-lake-dialogs.tsx';

type Opened = { readonly how: 'new' } | { readonly how: 'fill' | 'search'; readonly lake: DataLake };

export function DataLakes({ id }: { id: string | undefined }) {
  return id === undefined ? <LakeList /> : <LakeView key={id} id={id} />;
}

function LakeList() {
  const { ask, user } = useApp();
  const [opened, setOpened] = useState<Opened>();
  const list = useLoad('lakes', (get) => get<CursorPage<DataLake>>('/api/v1/data-lakes?limit=100'));
  const { error, runInTurn } = useSerialAction();
  const close = (): void => {
    setOpened(undefined);
    list.reload();
  };
  const remove = async ({ id, name }: DataLake): Promise<void> => {
    const title = `Delete the data lake “${name}”?`;
    if ((await ask({ title, text: 'Its files stay.', action: 'Delete', isDanger: true })) === undefined)
      return;
    await runInTurn((call) => call('DELETE', `/api/v1/data-lakes/${id}`));
    list.reload();
  };
  const isOff = list.status === 403;
  return (
    <View
      title="Data lakes"
      lead="Collections of files that models can search."
      actions={
        !isOff && (
          <button type="button" class="primary" onClick={() => setOpened({ how: 'new' })}>
            <Icon of={Plus} /> New data lake
          </button>
        )
      }
    >
      <ErrorMessage text={error} />
      {isOff ? (
        <Empty
          icon={Database}
          title="Data lakes are switched off."
          {...(user?.isAdmin === true
            ? { action: <a href="#/settings">Switch them on in the settings</a> }
            : { hint: 'An administrator can switch them on.' })}
        />
      ) : (
        <Waiting of={list} />
      )}
      <Table
        caption="Data lakes"
        rows={list.data?.data}
        getKey={({ id }) => id}
        empty={
          <Empty
            icon={Database}
            title="No data lakes yet."
            hint="Create one, add files, and turn on Tools in a conversation: the model searches them."
          />
        }
        columns={[
          { head: 'Name', cell: ({ id, name }) => <a href={`#/data-lakes/${id}`}>{name}</a> },
          { head: 'Description', cell: ({ description }) => description ?? '–' },
          { head: 'State', cell: ({ status }) => <Badge state={status} /> },
          { head: 'Files', isNumber: true, cell: ({ file_count }) => file_count },
          {
            head: 'Actions',
            isActions: true,
            cell: (lake) => (
              <>
                <button type="button" class="small" onClick={() => setOpened({ how: 'search', lake })}>
                  Search
                </button>
                <button type="button" class="small" onClick={() => setOpened({ how: 'fill', lake })}>
                  Add a file
                </button>
                <button type="button" class="small danger-text" onClick={() => void remove(lake)}>
                  Delete
                </button>
              </>
            ),
          },
        ]}
      />
      {opened?.how === 'new' && <NewLake onClose={close} />}
      {opened?.how === 'fill' && <AddFile lake={opened.lake} onClose={close} />}
      {opened?.how === 'search' && <SearchLake lake={opened.lake} onClose={close} />}
    </View>
  );
}
