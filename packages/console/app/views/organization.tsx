import { useState } from 'preact/hooks';
import { useApp } from '../context.ts';
import { go, useLoad, useSerialAction } from '../hooks.ts';
import { ShareDialog } from '../parts/share-dialog.tsx';
import { Table } from '../parts/table.tsx';
import { ErrorMessage, View, Waiting } from '../parts/view.tsx';
import type { Organization, User } from '../records.ts';
import { type Credits, OrganizationCredits } from './organization-credits.tsx';
import { OrganizationForm } from './organization-form.tsx';

/** One organization and its members. */
export function OrganizationView({ id }: { id: string }) {
  const { ask, user } = useApp();
  const [isInviting, setInviting] = useState(false);
  const [isEditing, setEditing] = useState(false);
  const path = `/api/organization/${id}`;
  const organization = useLoad(path, (get) => get<Organization>(path));
  const members = useLoad(`members ${id}`, (get) =>
    get<{ users: readonly User[] }>(`/api/users?limit=100&organizationId=${id}`),
  );
  // Members who do not administer the organization get 403.
  const credits = useLoad(`credits ${id}`, (get) => get<Credits>(`/api/organizations/${id}/credits`));
  const administers = credits.data !== undefined;
  const { error, runInTurn } = useSerialAction();
  const { data } = organization;
  const remove = async ({ _id, username }: User): Promise<void> => {
    const title = `Remove ${username} from ${data?.name}?`;
    if ((await ask({ title, action: 'Remove', isDanger: true })) === undefined) return;
    await runInTurn((call) => call('POST', `${path}/revokeSharing`, { userId: _id }));
    members.reload();
  };
  const isOwner = data?.ownerId === user?._id;
  const dissolve = async (): Promise<void> => {
    const text =
      'Its members remain users. API keys that it pays for are revoked. It must have no credit left.';
    const title = `Delete ${data?.name}?`;
    if ((await ask({ title, text, action: 'Delete', isDanger: true })) === undefined) return;
    if (await runInTurn((call) => call('DELETE', `/api/organizations/${id}`))) go('organizations');
  };
  const leave = async (): Promise<void> => {
    const title = `Leave ${data?.name}?`;
    if ((await ask({ title, action: 'Leave', isDanger: true })) === undefined) return;
    if (await runInTurn((call) => call('POST', `${path}/leave`, {}))) go('organizations');
  };
  return (
    <View
      title={data?.name ?? 'Organization'}
      {...(data?.description && { lead: data.description })}
      actions={
        data !== undefined && (
          <>
            {administers && (
              <button type="button" onClick={() => setEditing(true)}>
                Change
              </button>
            )}
            <button type="button" class="danger-text" onClick={() => void (isOwner ? dissolve() : leave())}>
              {isOwner ? 'Delete' : 'Leave'}
            </button>
            {administers && (
              <button type="button" class="primary" onClick={() => setInviting(true)}>
                Invite members
              </button>
            )}
          </>
        )
      }
    >
      <p class="crumb">
        <a href="#/organizations">All organizations</a>
      </p>
      <ErrorMessage text={error} />
      <Waiting of={organization} />
      <Waiting of={members} />
      <Table
        caption="Members"
        rows={members.data?.users}
        getKey={({ _id }) => _id}
        empty={<p class="quiet">No members.</p>}
        columns={[
          { head: 'Name', cell: ({ username }) => username },
          { head: 'E-mail', cell: ({ email }) => email ?? '–' },
          {
            head: 'Actions',
            isActions: true,
            cell: (member) =>
              isOwner &&
              member._id !== user?._id && (
                <button type="button" class="small danger-text" onClick={() => void remove(member)}>
                  Remove
                </button>
              ),
          },
        ]}
      />
      {credits.data !== undefined && <OrganizationCredits id={id} credits={credits.data} />}
      {isEditing && data !== undefined && (
        <OrganizationForm
          organization={data}
          onClose={() => setEditing(false)}
          onSaved={() => {
            setEditing(false);
            organization.reload();
          }}
        />
      )}
      {isInviting && data !== undefined && (
        <ShareDialog type="organization" id={id} name={data.name} onClose={() => setInviting(false)} />
      )}
    </View>
  );
}
