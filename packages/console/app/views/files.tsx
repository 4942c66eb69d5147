import { useRef, useState } from 'preact/hooks';
import { call } from '../api.ts';
import { useAction, useLoad } from '../hooks.ts';
import { Dialog, Fault, sure, Table, View, Waiting, when } from '../parts/basics.tsx';
import { isShown, MediaShown, type Shown } from '../parts/media.tsx';
import type { CursorPage, WorkspaceFile } from '../records.ts';
import { upload } from '../upload.ts';

const UNITS = ['B', 'kB', 'MB', 'GB'];

export function Files() {
  const list = useLoad('files', (signal) =>
    call<CursorPage<WorkspaceFile>>('GET', '/api/v1/files?limit=100', undefined, signal),
  );
  const { busy, error, run } = useAction();
  const [progress, setProgress] = useState<string>();
  const [opened, setOpened] = useState<Shown>();
  const picker = useRef<HTMLInputElement>(null);

  const add = async (files: readonly File[]): Promise<void> => {
    await run(async () => {
      for (const [at, file] of files.entries()) {
        setProgress(`Uploading ${file.name} (${at + 1} of ${files.length})`);
        await upload(file);
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
  const rename = ({ id, file_name }: WorkspaceFile): void => {
    const wanted = prompt('A new name for this file', file_name)?.trim();
    if (wanted) void run(() => call('PATCH', `/api/v1/files/${id}`, { file_name: wanted })).then(list.reload);
  };
  const remove = ({ id, file_name }: WorkspaceFile): void => {
    if (sure(`Delete ${file_name}?`)) {
      void run(() => call('DELETE', `/api/v1/files/${id}`)).then(list.reload);
    }
  };

  return (
    <View
      title="Files"
      actions={
        <>
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
          <button type="button" class="main" disabled={busy} onClick={() => picker.current?.click()}>
            Upload
          </button>
        </>
      }
    >
      <p class="quiet" role="status">
        {progress}
      </p>
      <Fault text={error} />
      <Waiting of={list} />
      <Table
        caption="Your files"
        heads={['Name', 'Type', 'Size', 'Check', 'Added', 'Actions']}
        rows={list.data?.data}
        empty="No files yet."
        row={(file) => (
          <tr key={file.id}>
            <th scope="row">{file.file_name}</th>
            <td>{file.mime_type}</td>
            <td>{sizeOf(file.file_size)}</td>
            <td>{file.moderation_status}</td>
            <td>{when(file.created_at)}</td>
            <td class="row">
              <button
                type="button"
                disabled={file.moderation_status !== 'clean'}
                onClick={() => void open(file)}
              >
                Open
              </button>
              <button type="button" onClick={() => rename(file)}>
                Rename
              </button>
              <button type="button" onClick={() => remove(file)}>
                Delete
              </button>
            </td>
          </tr>
        )}
      />
      {opened !== undefined && (
        <Dialog title={opened.name} onClose={() => setOpened(undefined)}>
          <MediaShown {...opened} />
        </Dialog>
      )}
    </View>
  );
}

function sizeOf(bytes: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), UNITS.length - 1);
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${UNITS[power]}`;
}
