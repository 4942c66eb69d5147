import { UsersRound } from 'lucide';
import { useState } from 'preact/hooks';
import { toMessage } from '../api.ts';
import { useApp } from '../context.ts';
import { type Get, useAction, useLoad } from '../hooks.ts';
import { Dialog } from '../parts/dialog.tsx';
import { permissionName, when } from '../parts/format.ts';
import { useLeave } from '../parts/leave.ts';
import { isShown, MediaShown, type Shown } from '../parts/media.tsx';
import type { ShareableType } from '../parts/share-dialog.tsx';
import { Table } from '../parts/table.tsx';
import { Badge, Empty, ErrorMessage, View, Waiting } from '../parts/view.tsx';
import type { CursorPage, Permission, WorkspaceFile } from '../records.ts';

/** The fields of any kind. */
interface SharedRow {
  readonly id: string;
  readonly name?: string;
  readonly title?: string;
  readonly file_name?: string;
  readonly lastUpdated?: string;
  readonly updated_at?: string;
  readonly created_at?: string;
  readonly permission: Permission;
}

interface Kind {
  readonly title: string;
  readonly type: ShareableType;
  /** The page of the kind, which the API may leave out. */
  readonly place: string;
  /** The list of the kind in the API. */
  readonly path: string;
  /** Whether each record has a page of its own. */
  readonly hasPages?: boolean;
}

const KINDS: readonly Kind[] = [
  { title: 'Conversations', type: 'session', place: 'chat', path: 'sessions', hasPages: true },
  { title: 'Projects', type: 'project', place: 'projects', path: 'projects', hasPages: true },
  { title: 'Files', type: 'file', place: 'files', path: 'files' },
  { title: 'Artifacts', type: 'artifact', place: 'artifacts', path: 'artifacts', hasPages: true },
  { title: 'Agents', type: 'agent', place: 'agents', path: 'agents' },
];

interface Section {
  readonly kind: Kind;
  readonly rows: readonly SharedRow[];
  readonly error?: string;
}

/** Loads one kind. An administrator may have switched it off: the others are still listed. */
async function loadSection(get: Get, kind: Kind): Promise<Section> {
  try {
    const path = `/api/v1/${kind.path}?shared=true&limit=100`;
    return { kind, rows: (await get<CursorPage<SharedRow>>(path)).data };
  } catch (error) {
    return { kind, rows: [], error: `${kind.title}: ${toMessage(error)}` };
  }
}

/** What other users share with the user, by kind. */
export function SharedWithMe() {
  const { call, hidden } = useApp();
  const list = useLoad('shared with me', async (get) => {
    const kinds = KINDS.filter(({ place }) => !hidden.includes(place));
    return Promise.all(kinds.map((kind) => loadSection(get, kind)));
  });
  const { busy, error, run } = useAction();
  const leaving = useLeave();
  const [opened, setOpened] = useState<Shown>();

  const remove = async ({ type }: Kind, row: SharedRow): Promise<void> => {
    if (await leaving.leave({ type, id: row.id, name: getName(row) })) list.reload();
  };
  const openFile = ({ id }: SharedRow): Promise<boolean> =>
    run(async () => {
      const file = await call<WorkspaceFile>('GET', `/api/v1/files/${id}`);
      const { download_url: url, file_name: name, mime_type: mimeType } = file;
      if (!url) throw new Error('The file is not ready to be opened yet.');
      if (isShown(mimeType)) setOpened({ name, url, mimeType });
      else window.open(url, '_blank', 'noopener');
    });

  const sections = list.data?.filter(({ rows }) => rows.length > 0) ?? [];
  const failure = list.data?.find((section) => section.error !== undefined)?.error;
  return (
    <View title="Shared with me" lead="What other users share with you, and what you may do with it.">
      <ErrorMessage text={error ?? leaving.error ?? failure} />
      <Waiting of={list} />
      {list.data !== undefined && sections.length === 0 && (
        <Empty
          icon={UsersRound}
          title="Nothing is shared with you."
          hint={
            <>
              What you accept under <a href="#/invitations">Invitations</a> appears here.
            </>
          }
        />
      )}
      {sections.map(({ kind, rows }) => (
        <section key={kind.type} class="group-of" aria-label={kind.title}>
          <h2>{kind.title}</h2>
          <Table
            caption={kind.title}
            rows={rows}
            getKey={({ id }) => id}
            empty={null}
            columns={[
              {
                head: 'Name',
                cell: (row) =>
                  kind.hasPages ? <a href={`#/${kind.place}/${row.id}`}>{getName(row)}</a> : getName(row),
              },
              {
                head: 'Permission',
                cell: ({ permission }) => <Badge state={permission}>{permissionName(permission)}</Badge>,
              },
              {
                head: 'Changed',
                cell: ({ lastUpdated, updated_at, created_at }) =>
                  when(lastUpdated ?? updated_at ?? created_at ?? null),
              },
              {
                head: 'Actions',
                isActions: true,
                cell: (row) => (
                  <>
                    {kind.type === 'file' && (
                      <button
                        type="button"
                        class="small"
                        aria-label={`Open ${getName(row)}`}
                        disabled={busy}
                        onClick={() => void openFile(row)}
                      >
                        Open
                      </button>
                    )}
                    <button
                      type="button"
                      class="small danger-text"
                      aria-label={`Leave ${getName(row)}`}
                      disabled={leaving.busy}
                      onClick={() => void remove(kind, row)}
                    >
                      Leave
                    </button>
                  </>
                ),
              },
            ]}
          />
        </section>
      ))}
      {opened !== undefined && (
        <Dialog title={opened.name} onClose={() => setOpened(undefined)} isWide>
          <MediaShown {...opened} />
        </Dialog>
      )}
    </View>
  );
}

function getName({ name, title, file_name }: SharedRow): string {
  return name ?? title ?? file_name ?? '';
}
