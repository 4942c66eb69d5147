import { FileText, Upload } from 'lucide';
import { useRef, useState } from 'preact/hooks';
import { useApp } from '../context.ts';
import { useAction, useLoad } from '../hooks.ts';
import { Dialog } from '../parts/dialog.tsx';
import { size, when } from '../parts/format.ts';
import { Icon } from '../parts/icon.tsx';
import { isShown, MediaShown, type Shown } from '../parts/media.tsx';
import { ShareDialog } from '../parts/share-dialog.tsx';
import { Table } from '../parts/table.tsx';
import { Badge, Empty, ErrorMessage, View, Waiting } from '../parts/view.tsx';
import type { CursorPage, WorkspaceFile } from '../records.ts';
import { upload } from '../upload.ts';

export function Files() {
  const { ask, call } = useApp();
  const [search, setSearch] = useState('');
  const query = new URLSearchParams({ limit: '100', ...(search !== '' && { search }) });
  const list = useLoad(`files ${query}`, (get) => get<CursorPage<WorkspaceFile>>(`/api/v1/files?${query}`));
  const { busy, error, run } = useAction();
  const [progress, setProgress] = useState<string>();
  const [opened, setOpened] = useState<Shown>();
  const [shared, setShared] = useState<WorkspaceFile>();
  const picker = useRef<HTMLInputElement>(null);

  const add = async (files: readonly File[]): Promise<void> => {
    await run(async () => {
      for (const [at, file] of files.entries()) {
        setProgress(`Uploading ${file.name} (${at + 1} of ${files.length})`);
        await upload(call, file);
      }
    });
    setProgress(undefined);
    list.reload();
  };
  const open = ({ id }: WorkspaceFile) =>
    run(async () => {
      const file = await call<WorkspaceFile>('GET', `/api/v1/files/${id}`);
      const { download_url: url } = file;
      if (!url) return;
      if (isShown(file.mime_type)) setOpened({ name: file.file_name, url, mimeType: file.mime_type });
      else window.open(url, '_blank', 'noopener');
    });
  const rename = async ({ id, file_name }: WorkspaceFile): Promise<void> => {
    const input = { label: 'Name', value: file_name };
    const wanted = await ask({ title: 'Rename the file', action: 'Save', input });
    if (!wanted) return;
    await run(() => call('PATCH', `/api/v1/files/${id}`, { file_name: wanted }));
    list.reload();
  };
  const remove = async ({ id, file_name }: WorkspaceFile): Promise<void> => {
    const text = 'This cannot be undone.';
    if ((await ask({ title: `Delete ${file_name}?`, text, action: 'Delete', isDanger: true })) === undefined)
      return;
    await run(() => call('DELETE', `/api/v1/files/${id}`));
    list.reload();
  };

  return (
    <View
      title="Files"
      lead="Files that you uploaded, and files that models made."
      actions={
        <>
          <input
            type="search"
            aria-label="Search files"
            placeholder="Search files"
            value={search}
            onInput={(event) => setSearch(event.currentTarget.value)}
          />
          <input
            ref={picker}
            type="file"
            multiple
            class="hidden"
            aria-label="Files to upload"
            tabIndex={-1}
            onChange={(event) => {
              void add([...(event.currentTarget.files ?? [])]);
              event.currentTarget.value = '';
            }}
          />
          <button type="button" class="primary" disabled={busy} onClick={() => picker.current?.click()}>
            <Icon of={Upload} /> Upload
          </button>
        </>
      }
    >
      <p class="quiet" role="status" hidden={progress === undefined}>
        {progress}
      </p>
      <ErrorMessage text={error} />
      <Waiting of={list} />
      <Table
        caption="Your files"
        rows={list.data?.data}
        getKey={({ id }) => id}
        empty={
          search === '' ? (
            <Empty
              icon={FileText}
              title="No files yet."
              hint="Upload documents, images, audio or video, up to the size that the server allows."
            />
          ) : (
            <Empty icon={FileText} title="No file found." />
          )
        }
        columns={[
          { head: 'Name', cell: ({ file_name }) => file_name },
          { head: 'Type', cell: ({ mime_type }) => mime_type },
          { head: 'Size', isNumber: true, cell: ({ file_size }) => size(file_size) },
          { head: 'Check', cell: ({ moderation_status }) => <Badge state={moderation_status} /> },
          { head: 'Added', cell: ({ created_at }) => when(created_at) },
          {
            head: 'Actions',
            isActions: true,
            cell: (file) => (
              <>
                <button
                  type="button"
                  class="small"
                  disabled={file.moderation_status !== 'clean'}
                  onClick={() => void open(file)}
                >
                  Open
                </button>
                <button type="button" class="small" onClick={() => setShared(file)}>
                  Share
                </button>
                <button type="button" class="small" onClick={() => void rename(file)}>
                  Rename
                </button>
                <button type="button" class="small danger-text" onClick={() => void remove(file)}>
                  Delete
                </button>
              </>
            ),
          },
        ]}
      />
      {opened !== undefined && (
        <Dialog title={opened.name} onClose={() => setOpened(undefined)} isWide>
          <MediaShown {...opened} />
        </Dialog>
      )}
      {shared !== undefined && (
        <ShareDialog
          type="file"
          id={shared.id}
          name={shared.file_name}
          onClose={() => setShared(undefined)}
        />
      )}
    </View>
  );
}
