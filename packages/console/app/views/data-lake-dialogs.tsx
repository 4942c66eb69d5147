import { useState } from 'preact/hooks';
import { useAction, useLoad } from '../hooks.ts';
import { Dialog, DialogForm } from '../parts/dialog.tsx';
import { Field, getText } from '../parts/field.tsx';
import { Waiting } from '../parts/view.tsx';
import type { CursorPage, DataLake, Found, LakeFile, WorkspaceFile } from '../records.ts';

export function NewLake({ onClose }: { onClose: () => void }) {
  const { busy, error, run } = useAction();
  const make = async (form: HTMLFormElement): Promise<void> => {
    const description = getText(form, 'description');
    const input = { name: getText(form, 'name'), ...(description !== '' && { description }) };
    if (await run((call) => call('POST', '/api/v1/data-lakes', input))) onClose();
  };
  return (
    <Dialog title="New data lake" onClose={onClose}>
      <DialogForm onSubmit={(form) => void make(form)} error={error} busy={busy} submit="Create">
        <Field label="Name">
          <input name="name" required maxLength={255} />
        </Field>
        <Field label="Description">
          <input name="description" maxLength={1000} />
        </Field>
      </DialogForm>
    </Dialog>
  );
}

interface LakeDialogProps {
  readonly lake: DataLake;
  readonly onClose: () => void;
}

interface AddFileProps extends LakeDialogProps {
  /** The files that the lake has already, as far as they are known. */
  readonly present?: readonly LakeFile[];
}

export function AddFile({ lake, present = [], onClose }: AddFileProps) {
  const { busy, error, run } = useAction();
  const files = useLoad('clean files', async (get) =>
    (await get<CursorPage<WorkspaceFile>>('/api/v1/files?limit=100')).data.filter(
      ({ id, moderation_status }) =>
        moderation_status === 'clean' && !present.some(({ file_id }) => file_id === id),
    ),
  );
  const add = async (form: HTMLFormElement): Promise<void> => {
    const path = `/api/v1/data-lakes/${lake.id}/files/${getText(form, 'file')}`;
    if (await run((call) => call('POST', path))) onClose();
  };
  return (
    <Dialog title={`Add a file to ${lake.name}`} onClose={onClose}>
      <Waiting of={files} />
      {files.data?.length === 0 && (
        <p>
          You have no files that can be added. <a href="#/files">Upload one</a>.
        </p>
      )}
      {files.data !== undefined && files.data.length > 0 && (
        <DialogForm onSubmit={(form) => void add(form)} error={error} busy={busy} submit="Add file">
          <Field label="File" hint="Only files that passed moderation are listed.">
            <select name="file" required>
              {files.data.map(({ id, file_name }) => (
                <option key={id} value={id}>
                  {file_name}
                </option>
              ))}
            </select>
          </Field>
        </DialogForm>
      )}
    </Dialog>
  );
}

export function SearchLake({ lake, onClose }: LakeDialogProps) {
  const [results, setResults] = useState<readonly Found[]>();
  const { busy, error, run } = useAction();
  const search = (form: HTMLFormElement) =>
    run(async (call) => {
      const input = { query: getText(form, 'query') };
      const path = `/api/v1/data-lakes/${lake.id}/search`;
      setResults((await call<{ results: readonly Found[] }>('POST', path, input)).results);
    });
  return (
    <Dialog title={`Search ${lake.name}`} onClose={onClose} isWide>
      <DialogForm onSubmit={(form) => void search(form)} error={error} busy={busy} submit="Search">
        <Field label="Query">
          <input name="query" type="search" required />
        </Field>
      </DialogForm>
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
      {results?.length === 0 && (
        <p class="quiet">Nothing found. Files that were just added are still being read.</p>
      )}
    </Dialog>
  );
}
