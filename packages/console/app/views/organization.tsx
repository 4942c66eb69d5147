import { useState } from 'preact/hooks';
import { useApp } from '../context.ts';
import { go, useAction, useLoad } from '../hooks.ts';
import { ExportButton } from '../parts/export-button.tsx';
import { ShareDialog } from '../parts/share-dialog.tsx';
import { Table } from '../parts/table.tsx';
import { ErrorMessage, View, Waiting } from '../parts/view.tsx';
import type { Organization, User } from '../records.ts';
import { UsageReport } from './usage-report.tsx';

/** What the usage of an organization is grouped by. */
const BY = ['day', 'model', 'operation', 'key', 'user'] as const;

/** One organization and its members. */
export function OrganizationView({ id }: { id: string }) {
  const { ask, user } = useApp();
  const [isInviting, setInviting] = useState(false);
  const path = `/api/organization/${id}`;
  const organization = useLoad(path, (get) => get<Organization>(path));
  const members = useLoad(`members ${id}`, (get) =>
    get<{ users: readonly User[] }>(`/api/users?limit=100&organizationId=${id}`),
  );
  const { error, run } = useAction();
  const { data } = organization;
  const remove = async ({ _id, username }: User): Promise<void> => {
    const title = `Remove ${username} from ${data?.name}?`;
    if ((await ask({ title, action: 'Remove', isDanger: true })) === undefined) return;
    await run((call) => call('POST', `${path}/revokeSharing`, { userId: _id }));
    members.reload();
  };
  const isOwner = data?.ownerId === user?._id;
  const rename = async (): Promise<void> => {
    const input = { label: 'Name', value: data?.name ?? '' };
    const name = await ask({ title: 'Rename the organization', action: 'Save', input });
    if (!name) return;
    await run((call) => call('PATCH', `/api/organizations/${id}`, { name }));
    organization.reload();
  };
  const dissolve = async (): Promise<void> => {
    const text =
      'Its members remain users. API keys that it pays for are revoked. It must have no credit left.';
    const title = `Delete ${data?.name}?`;
    if ((await ask({ title, text, action: 'Delete', isDanger: true })) === undefined) return;
    if (await run((call) => call('DELETE', `/api/organizations/${id}`))) go('organizations');
  };
  const leave = async (): Promise<void> => {
    const title = `Leave ${data?.name}?`;
    if ((await ask({ title, action: 'Leave', isDanger: true })) === undefined) return;
    if (await run((call) => call('POST', `${path}/leave`, {}))) go('organizations');
  };
  return (
    <View
      title={data?.name ?? 'Organization'}
      {...(data?.description && { lead: data.description })}
      actions={
        data !== undefined && (
          <>
            {isOwner ? (
              <>
                <button type="button" onClick={() => void rename()}>
                  Rename
                </button>
                <button type="button" class="danger-text" onClick={() => void dissolve()}>
                  Delete
                </button>
              </>
            ) : (
              <button type="button" class="danger-text" onClick={() => void leave()}>
                Leave
              </button>
            )}
            <button type="button" class="primary" onClick={() => setInviting(true)}>
              Invite members
            </button>
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
      {isOwner && (
        <>
          <h2>What it paid</h2>
          <UsageReport path={`/api/organizations/${id}/usage-report`} dimensions={BY} />
          <ExportButton
            label="Export grants and charges"
            path={`/api/organizations/${id}/credits/export?format=csv`}
            name={`credits-${id}.csv`}
          />
        </>
      )}
      {isInviting && data !== undefined && (
        <ShareDialog type="organization" id={id} name={data.name} onClose={() => setInviting(false)} />
      )}
    </View>
  );
}
