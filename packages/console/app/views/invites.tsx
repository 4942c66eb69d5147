import { Ticket } from 'lucide';
import { useState } from 'preact/hooks';
import { useApp } from '../context.ts';
import { useAction, useLoad } from '../hooks.ts';
import { CopyButton } from '../parts/copy.tsx';
import { Field, getText } from '../parts/field.tsx';
import { when } from '../parts/format.ts';
import { Table } from '../parts/table.tsx';
import { Empty, ErrorMessage, View, Waiting } from '../parts/view.tsx';
import type { Invite } from '../records.ts';

/** Invites: codes that let people register while registration is closed. */
export function Invites() {
  const { ask } = useApp();
  const list = useLoad('invites', (get) => get<{ invites: readonly Invite[] }>('/api/reg-invites'));
  const { busy, error, run } = useAction();
  /** Codes by invite id, from this visit: a server without an encryption key shows a code once. */
  const [made, setMade] = useState<Readonly<Record<string, string | null>>>({});
  const make = async (form: HTMLFormElement): Promise<void> => {
    const startingCredits = Number(getText(form, 'credits'));
    const input = {
      multiple: Number(getText(form, 'count')),
      ...(startingCredits > 0 && { startingCredits }),
    };
    await run(async (call) => {
      const { invites } = await call<{ invites: readonly Invite[] }>(
        'POST',
        '/api/reg-invites/create',
        input,
      );
      setMade({ ...made, ...Object.fromEntries(invites.map(({ _id, code }) => [_id, code])) });
    });
    list.reload();
  };
  const remove = async ({ _id }: Invite): Promise<void> => {
    const text = 'Its code can no longer be used to register.';
    if ((await ask({ title: 'Delete the invite?', text, action: 'Delete', isDanger: true })) === undefined)
      return;
    await run((call) => call('POST', '/api/reg-invites/delete', { ids: [_id] }));
    list.reload();
  };
  const getCode = ({ _id, code }: Invite): string | null => code ?? made[_id] ?? null;
  return (
    <View title="Invites" lead="Codes for new users to register with, while registration is closed.">
      <form
        class="card row"
        onSubmit={(event) => {
          event.preventDefault();
          void make(event.currentTarget);
        }}
      >
        <Field label="Number of invites">
          <input name="count" type="number" min="1" max="500" defaultValue="1" required />
        </Field>
        <Field label="Starting credits">
          <input name="credits" type="number" min="0" max="1000000" defaultValue="0" />
        </Field>
        <button type="submit" class="primary" disabled={busy}>
          Create invites
        </button>
      </form>
      <ErrorMessage text={error} />
      <Waiting of={list} />
      <Table
        caption="Invites"
        rows={list.data?.invites}
        getKey={({ _id }) => _id}
        empty={
          <Empty icon={Ticket} title="No invites yet." hint="Create one and send its code to a new user." />
        }
        columns={[
          {
            head: 'Code',
            cell: (invite) => {
              const code = getCode(invite);
              return (
                <>
                  <code>{code ?? 'not stored'}</code>
                  {code !== null && <CopyButton text={code} name="Copy code" />}
                </>
              );
            },
          },
          { head: 'Uses left', isNumber: true, cell: ({ usesLeft }) => usesLeft ?? 'unlimited' },
          { head: 'Created', cell: ({ createdAt }) => when(createdAt) },
          {
            head: 'Actions',
            isActions: true,
            cell: (invite) => (
              <button type="button" class="small danger-text" onClick={() => void remove(invite)}>
                Delete
              </button>
            ),
          },
        ]}
      />
    </View>
  );
}
