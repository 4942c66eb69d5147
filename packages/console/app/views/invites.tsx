import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { useAction, useLoad } from '../hooks.ts';
import { Fault, Field, sure, Table, textOf, View, Waiting, when } from '../parts/basics.tsx';
import type { Invite } from '../records.ts';

/** Who may register while registration is closed: whoever holds one of these. */
export function Invites() {
  const list = useLoad('invites', (signal) =>
    call<{ invites: readonly Invite[] }>('GET', '/api/reg-invites', undefined, signal),
  );
  const { busy, error, run } = useAction();
  /** Codes by their invites, as they were made here: a server without a key to keep them shows them once. */
  const [made, setMade] = useState<Readonly<Record<string, string | null>>>({});
  const make = (form: HTMLFormElement): void => {
    const startingCredits = Number(textOf(form, 'credits'));
    const wish = { multiple: Number(textOf(form, 'count')), ...(startingCredits > 0 && { startingCredits }) };
    const work = async (): Promise<void> => {
      const { invites } = await call<{ invites: readonly Invite[] }>('POST', '/api/reg-invites/create', wish);
      setMade({ ...made, ...Object.fromEntries(invites.map(({ _id, code }) => [_id, code])) });
    };
    void run(work).then(list.reload);
  };
  const remove = ({ _id }: Invite): void => {
    if (sure('Delete this invite?')) {
      void run(() => call('POST', '/api/reg-invites/delete', { ids: [_id] })).then(list.reload);
    }
  };
  return (
    <View title="Invites">
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          make(event.currentTarget);
        }}
      >
        <Field label="How many">
          <input name="count" type="number" min="1" max="500" defaultValue="1" required />
        </Field>
        <Field label="Starting credits">
          <input name="credits" type="number" min="0" max="1000000" defaultValue="0" />
        </Field>
        <button type="submit" class="main" disabled={busy}>
          Make invites
        </button>
      </form>
      <Fault text={error} />
      <Waiting of={list} />
      <Table
        caption="Invites"
        heads={['Code', 'Uses left', 'Made', 'Actions']}
        rows={list.data?.invites}
        empty="No invites."
        row={(invite) => (
          <tr key={invite._id}>
            <th scope="row">
              <code>{invite.code ?? made[invite._id] ?? 'not kept'}</code>
            </th>
            <td>{invite.usesLeft ?? 'any number'}</td>
            <td>{when(invite.createdAt)}</td>
            <td>
              <button type="button" onClick={() => remove(invite)}>
                Delete
              </button>
            </td>
          </tr>
        )}
      />
    </View>
  );
}
