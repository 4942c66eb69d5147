import { Plus, Webhook as WebhookIcon } from 'lucide';
import { useState } from 'preact/hooks';
import { useLoad } from '../hooks.ts';
import { Field } from '../parts/field.tsx';
import { when } from '../parts/format.ts';
import { Icon } from '../parts/icon.tsx';
import { Table } from '../parts/table.tsx';
import { Badge, Empty, View, Waiting } from '../parts/view.tsx';
import type { Organization, Webhook } from '../records.ts';
import { WebhookView } from './webhook.tsx';
import { WebhookForm, WebhookSecret, type WebhookWithSecret } from './webhook-form.tsx';

export function Webhooks({ id }: { id: string | undefined }) {
  return id === undefined ? <WebhookList /> : <WebhookView key={id} id={id} />;
}

function WebhookList() {
  const [organizationId, setOrganizationId] = useState('');
  const [isCreating, setCreating] = useState(false);
  const [shown, setShown] = useState<WebhookWithSecret>();
  const organizations = useLoad('organizations', (get) =>
    get<{ organizations: readonly Organization[] }>('/api/organizations?limit=100'),
  );
  const list = useLoad(`webhooks ${organizationId}`, (get) =>
    get<{ webhooks: readonly Webhook[] }>(
      `/api/webhooks?limit=100${organizationId && `&organizationId=${organizationId}`}`,
    ),
  );
  const groups = organizations.data?.organizations ?? [];
  return (
    <View
      title="Webhooks"
      lead="Addresses that receive a signed request when work ends, a file is checked or credit is low."
      actions={
        <button type="button" class="primary" onClick={() => setCreating(true)}>
          <Icon of={Plus} /> New webhook
        </button>
      }
    >
      {groups.length > 0 && (
        <div class="filter">
          <Field label="Owner" hint="Webhooks of an organization receive what it pays for.">
            <select value={organizationId} onChange={(event) => setOrganizationId(event.currentTarget.value)}>
              <option value="">You</option>
              {groups.map(({ _id, name }) => (
                <option key={_id} value={_id}>
                  {name}
                </option>
              ))}
            </select>
          </Field>
        </div>
      )}
      <Waiting of={list} />
      <Table
        caption="Webhooks"
        rows={list.data?.webhooks}
        getKey={({ id }) => id}
        empty={<Empty icon={WebhookIcon} title="No webhooks yet." hint="Create one to receive events." />}
        columns={[
          { head: 'Address', cell: ({ id, url }) => <a href={`#/webhooks/${id}`}>{url}</a> },
          { head: 'Description', cell: ({ description }) => description || '–' },
          { head: 'Events', cell: ({ types }) => <span title={types.join('\n')}>{types.length}</span> },
          { head: 'Status', cell: ({ status }) => <Badge state={status} /> },
          { head: 'Last accepted', cell: ({ lastSuccessAt }) => when(lastSuccessAt) },
        ]}
      />
      {isCreating && (
        <WebhookForm
          organizationId={organizationId}
          onClose={() => setCreating(false)}
          onSaved={(made) => {
            setCreating(false);
            setShown(made);
            list.reload();
          }}
        />
      )}
      {shown !== undefined && <WebhookSecret shown={shown} onClose={() => setShown(undefined)} />}
    </View>
  );
}
