import { useAction, useLoad } from '../hooks.ts';
import type { ResourceInvite } from '../records.ts';
import { Dialog, DialogForm } from './dialog.tsx';
import { Field, getText } from './field.tsx';
import { permissionName, wholeDate } from './format.ts';
import { Table } from './table.tsx';
import { Badge, ErrorMessage, Waiting } from './view.tsx';

export type ShareableType = 'session' | 'project' | 'file' | 'artifact' | 'agent' | 'organization';

interface ShareDialogProps {
  readonly type: ShareableType;
  readonly id: string;
  readonly name: string;
  readonly onClose: () => void;
}

/** Invites users by e-mail address, and shows who is invited. */
export function ShareDialog({ type, id, name, onClose }: ShareDialogProps) {
  const path = `/api/${type}/${id}`;
  const list = useLoad(path, (get) =>
    get<{ invites: readonly ResourceInvite[] }>(`${path}/invites?limit=100`),
  );
  const inviting = useAction();
  const revoking = useAction();
  const invite = async (form: HTMLFormElement): Promise<void> => {
    const input = { email: getText(form, 'email'), permission: getText(form, 'permission') };
    if (await inviting.run((call) => call('POST', `${path}/invites`, input))) form.reset();
    list.reload();
  };
  const revoke = async (): Promise<void> => {
    await revoking.run((call) => call('POST', `${path}/revokeSharing`, {}));
    list.reload();
  };
  const invites = list.data?.invites ?? [];
  const isShared = invites.some(({ status }) => status === 'pending' || status === 'accepted');
  return (
    <Dialog title={`Share “${name}”`} onClose={onClose} isWide>
      <DialogForm
        onSubmit={(form) => void invite(form)}
        error={inviting.error}
        busy={inviting.busy}
        submit="Invite"
      >
        <div class="row">
          <Field label="E-mail address">
            <input name="email" type="email" required />
          </Field>
          <Field label="Permission">
            <select name="permission">
              <option value="read">Read</option>
              <option value="write">Read and write</option>
            </select>
          </Field>
        </div>
      </DialogForm>
      <Waiting of={list} />
      <Table
        caption="Invited"
        rows={list.data?.invites}
        getKey={({ _id }) => _id}
        empty={<p class="quiet">Only you have access.</p>}
        columns={[
          { head: 'Address', cell: ({ email }) => email },
          { head: 'Permission', cell: ({ permission }) => permissionName(permission) },
          { head: 'State', cell: ({ status }) => <Badge state={status} /> },
          { head: 'Invited', cell: ({ createdAt }) => wholeDate(createdAt) },
        ]}
      />
      {isShared && (
        <button type="button" class="danger-text" disabled={revoking.busy} onClick={() => void revoke()}>
          End all sharing
        </button>
      )}
      <ErrorMessage text={revoking.error} />
    </Dialog>
  );
}
