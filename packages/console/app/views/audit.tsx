import { ScrollText } from 'lucide';
import { useState } from 'preact/hooks';
import { useAction, useLoad } from '../hooks.ts';
import { wholeDate } from '../parts/format.ts';
import { Table } from '../parts/table.tsx';
import { Empty, ErrorMessage, View, Waiting } from '../parts/view.tsx';

interface Entry {
  readonly id: string;
  readonly createdAt: string;
  readonly action: string;
  readonly actor: { readonly type: string; readonly userId: string | null };
  readonly target: { readonly type: string; readonly id: string };
  readonly changes: readonly { readonly field: string; readonly before: unknown; readonly after: unknown }[];
}

interface EntryPage {
  readonly data: readonly Entry[];
  readonly next_cursor: string | null;
}

/** The log of administrative acts. */
export function Audit() {
  const [target, setTarget] = useState('');
  const [more, setMore] = useState<readonly EntryPage[]>([]);
  const { busy, error, run } = useAction();
  const query = new URLSearchParams({ limit: '50', ...(target !== '' && { target }) });
  const first = useLoad(`audit ${query}`, (get) => get<EntryPage>(`/api/audit?${query}`));
  const cursor = (more.at(-1) ?? first.data)?.next_cursor ?? null;
  const loadMore = () =>
    run(async (call) => {
      const page = await call<EntryPage>('GET', `/api/audit?${query}&cursor=${cursor}`);
      setMore((before) => [...before, page]);
    });
  return (
    <View
      title="Audit log"
      lead="Every administrative act. Entries are never changed."
      actions={
        <input
          type="search"
          aria-label="Id of the target"
          placeholder="Id of the target"
          value={target}
          onInput={(event) => {
            setMore([]);
            setTarget(event.currentTarget.value.trim());
          }}
        />
      }
    >
      <Waiting of={first} />
      <Table
        caption="Acts"
        rows={first.data && [first.data, ...more].flatMap(({ data }) => data)}
        getKey={({ id }) => id}
        empty={<Empty icon={ScrollText} title="No acts found." />}
        columns={[
          { head: 'When', cell: ({ createdAt }) => wholeDate(createdAt) },
          {
            head: 'Act',
            cell: ({ action }) => <span class="nowrap">{action.replaceAll(/[._]/g, ' ')}</span>,
          },
          { head: 'By', cell: ({ actor: { type, userId } }) => <Id of={userId} type={type} /> },
          { head: 'Target', cell: ({ target: { type, id } }) => <Id of={id} type={type} /> },
          { head: 'Changes', cell: ({ changes }) => <Changes of={changes} /> },
        ]}
      />
      <ErrorMessage text={error} />
      {cursor !== null && (
        <div class="pager">
          <button type="button" disabled={busy} onClick={loadMore}>
            Show more
          </button>
        </div>
      )}
    </View>
  );
}

/** The beginning of an id, in which rows differ; all of it in the tooltip. */
function Id({ of, type }: { of: string | null; type: string }) {
  if (of === null) return <>{type}</>;
  return (
    <span class="nowrap" title={`${type} ${of}`}>
      {of.length > 14 ? `${of.slice(0, 12)}…` : of}
    </span>
  );
}

function Changes({ of }: { of: Entry['changes'] }) {
  if (of.length === 0) return <>–</>;
  return (
    <div>
      {of.map(({ field, before, after }) => (
        <div key={field}>
          {field}: {before !== null && `${toText(before)} → `}
          {toText(after)}
        </div>
      ))}
    </div>
  );
}

function toText(value: unknown): string {
  if (value === null) return 'none';
  if (Array.isArray(value)) return value.map(toText).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
