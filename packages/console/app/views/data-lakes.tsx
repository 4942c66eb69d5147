import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { useAction, useLoad } from '../hooks.ts';
import { Dialog, Fault, Field, sure, Table, textOf, View, Waiting } from '../parts/basics.tsx';
import type { CursorPage, DataLake, Found, WorkspaceFile } from '../records.ts';

export function DataLakes() {
  const [opened, setOpened] = useState<{ how: 'new' } | { how: 'fill' | 'search'; lake: DataLake }>();
  const list = useLoad('lakes', (signal) =>
    call<CursorPage<DataLake>>('GET', '/api/v1/data-lakes?limit=100', undefined, signal),
  );
  const { error, run } = useAction();
  const close = (): void => {
    setOpened(undefined);
    list.reload();
  };
  const remove = ({ id, name }: DataLake): void => {
    if (sure(`Delete the data lake “${name}”? Its files stay.`)) {
      void run(() => call('DELETE', `/api/v1/data-lakes/${id}`)).then(list.reload);
    }
  };
  return (
    <View
      title="Data lakes"
      actions={
        <button type="button" class="main" onClick={() => setOpened({ how: 'new' })}>
          New data lake
        </button>
      }
    >
      <p class="quiet">Files that models may look things up in.</p>
      <Fault text={error} />
      <Waiting of={list} />
      <Table
        caption="Data lakes"
        heads={['Name', 'Description', 'State', 'Files', 'Actions']}
        numbers={['Files']}
        rows={list.data?.data}
        empty="No data lakes yet."
        row={(lake) => (
          <tr key={lake.id}>
            <th scope="row">{lake.name}</th>
            <td>{lake.description}</td>
            <td>{lake.status}</td>
            <td class="number">{lake.file_count}</td>
            <td class="row">
              <button type="button" onClick={() => setOpened({ how: 'search', lake })}>
                Search
              </button>
              <button type="button" onClick={() => setOpened({ how: 'fill', lake })}>
                Add a file
              </button>
              <button type="button" onClick={() => remove(lake)}>
                Delete
              </button>
            </td>
          </tr>
        )}
      />
      {opened?.how === 'new' && <NewLake onClose={close} />}
      {opened?.how === 'fill' && <AddFile lake={opened.lake} onClose={close} />}
      {opened?.how === 'search' && <Search lake={opened.lake} onClose={close} />}
    </View>
  );
}

function NewLake({ onClose }: { onClose: () => void }) {
  const { busy, error, run } = useAction();
  const make = async (form: HTMLFormElement): Promise<void> => {
    const description = textOf(form, 'description');
    const wish = { name: textOf(form, 'name'), ...(description !== '' && { description }) };
    if (await run(() => call('POST', '/api/v1/data-lakes', wish))) onClose();
  };
  return (
    <Dialog title="New data lake" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void make(event.currentTarget);
        }}
      >
        <Field label="Name">
          <input name="name" required maxLength={255} />
        </Field>
        <Field label="Description">
          <input name="description" maxLength={1000} />
        </Field>
        <Fault text={error} />
        <button type="submit" class="main" disabled={busy}>
          Make it
        </button>
      </form>
    </Dialog>
  );
}

function AddFile({ lake, onClose }: { lake: DataLake; onClose: () => void }) {
  const { busy, error, run } = useAction();
  const files = useLoad('clean files', (signal) =>
    call<CursorPage<WorkspaceFile>>('GET', '/api/v1/files?limit=100', undefined, signal),
  );
  const add = async (form: HTMLFormElement): Promise<void> => {
    if (await run(() => call('POST', `/api/v1/data-lakes/${lake.id}/files/${textOf(form, 'file')}`)))
      onClose();
  };
  return (
    <Dialog title={`Add a file to ${lake.name}`} onClose={onClose}>
      <Waiting of={files} />
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void add(event.currentTarget);
        }}
      >
        <Field label="File" hint="One of those under Files that have been checked.">
          <select name="file" required>
            {files.data?.data
              .filter(({ moderation_status }) => moderation_status === 'clean')
              .map(({ id, file_name }) => (
                <option key={id} value={id}>
                  {file_name}
                </option>
              ))}
          </select>
        </Field>
        <Fault text={error} />
        <button type="submit" class="main" disabled={busy}>
          Add it
        </button>
      </form>
    </Dialog>
  );
}

function Search({ lake, onClose }: { lake: DataLake; onClose: () => void }) {
  const [results, setResults] = useState<readonly Found[]>();
  const { busy, error, run } = useAction();
  const search = (form: HTMLFormElement) =>
    run(async () => {
      const wish = { query: textOf(form, 'query') };
      const found = await call<{ results: readonly Found[] }>(
        'POST',
        `/api/v1/data-lakes/${lake.id}/search`,
        wish,
      );
      setResults(found.results);
    });
  return (
    <Dialog title={`Search ${lake.name}`} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void search(event.currentTarget);
        }}
      >
        <Field label="What to look for">
          <input name="query" type="search" required />
        </Field>
        <Fault text={error} />
        <button type="submit" class="main" disabled={busy}>
          Search
        </button>
      </form>
      <ol class="found" aria-live="polite">
        {results?.map(({ chunk_id, file_name, chunk_text, score }) => (
          <li key={chunk_id}>
            <p>
              <strong>{file_name}</strong> <span class="quiet">{score.toFixed(3)}</span>
            </p>
            <p>{chunk_text}</p>
          </li>
        ))}
      </ol>
      {results?.length === 0 && <p class="quiet">Nothing was found.</p>}
    </Dialog>
  );
}
