import { FileText, Plus, Search } from 'lucide';
import { useEffect, useState } from 'preact/hooks';
import { useApp } from '../context.ts';
import { useAction, useLoad } from '../hooks.ts';
import { Icon } from '../parts/icon.tsx';
import { Table } from '../parts/table.tsx';
import { Badge, Empty, ErrorMessage, View, Waiting } from '../parts/view.tsx';
import type { CursorPage, DataLake, LakeFile } from '../records.ts';
import { AddFile, SearchLake } from './data-lake-dialogs.tsx';

/** Pause between two looks at files that are being read. */
const POLL_MS = 2000;

const STATES: Readonly<Record<string, string>> = {
  not_ingested: 'not read yet',
  indexing: 'being read',
};

/** One data lake with its files. */
export function LakeView({ id }: { id: string }) {
  const { ask } = useApp();
  const [opened, setOpened] = useState<'add' | 'search'>();
  const path = `/api/v1/data-lakes/${id}`;
  const lake = useLoad(path, (get) => get<DataLake>(path));
  const files = useLoad(`${path}/files`, (get) => get<CursorPage<LakeFile>>(`${path}/files?limit=100`));
  const { busy, error, run } = useAction();
  const isReading = files.data?.data.some(({ ingestion_status }) => ingestion_status === 'indexing') === true;
  useEffect(() => {
    if (!isReading) return;
    const timer = setInterval(files.reload, POLL_MS);
    return () => clearInterval(timer);
  }, [isReading, files.reload]);

  const close = (): void => {
    setOpened(undefined);
    files.reload();
  };
  const remove = async ({ file_id, file_name }: LakeFile): Promise<void> => {
    const title = `Remove ${file_name} from ${lake.data?.name}?`;
    const text = 'Searches no longer find it. The file itself stays.';
    if ((await ask({ title, text, action: 'Remove', isDanger: true })) === undefined) return;
    await run((call) => call('DELETE', `${path}/files/${file_id}`));
    files.reload();
  };
  const retry = async ({ file_id }: LakeFile): Promise<void> => {
    await run((call) => call('POST', `${path}/files/${file_id}`));
    files.reload();
  };

  const { data } = lake;
  return (
    <View
      title={data?.name ?? 'Data lake'}
      {...(data?.description && { lead: data.description })}
      actions={
        data !== undefined && (
          <>
            <button type="button" onClick={() => setOpened('search')}>
              <Icon of={Search} /> Search
            </button>
            <button type="button" class="primary" onClick={() => setOpened('add')}>
              <Icon of={Plus} /> Add a file
            </button>
          </>
        )
      }
    >
      <p class="crumb">
        <a href="#/data-lakes">All data lakes</a>
      </p>
      <ErrorMessage text={error} />
      <Waiting of={lake} />
      {data !== undefined && <Waiting of={files} />}
      <Table
        caption="Files of the data lake"
        rows={files.data?.data}
        getKey={({ file_id }) => file_id}
        empty={<Empty icon={FileText} title="No files yet." hint="Add files, and models can search them." />}
        columns={[
          { head: 'Name', cell: ({ file_name }) => file_name },
          { head: 'State', cell: (file) => <FileState file={file} /> },
          { head: 'Passages', isNumber: true, cell: ({ chunk_count }) => chunk_count },
          {
            head: 'Actions',
            isActions: true,
            cell: (file) => (
              <>
                {['failed', 'paused'].includes(file.ingestion_status) && (
                  <button
                    type="button"
                    class="small"
                    aria-label={`Try ${file.file_name} again`}
                    disabled={busy}
                    onClick={() => void retry(file)}
                  >
                    Try again
                  </button>
                )}
                <button
                  type="button"
                  class="small danger-text"
                  aria-label={`Remove ${file.file_name}`}
                  disabled={busy}
                  onClick={() => void remove(file)}
                >
                  Remove
                </button>
              </>
            ),
          },
        ]}
      />
      {opened === 'add' && data !== undefined && (
        <AddFile lake={data} present={files.data?.data ?? []} onClose={close} />
      )}
      {opened === 'search' && data !== undefined && <SearchLake lake={data} onClose={close} />}
    </View>
  );
}

/** How far a file is searchable, and why not. */
function FileState({ file: { ingestion_status: state, error } }: { file: LakeFile }) {
  return (
    <>
      <Badge state={state}>{STATES[state] ?? state}</Badge>
      {error !== null && <p class="quiet small-text">{error}</p>}
    </>
  );
}
