import { Building2, Plus } from 'lucide';
import { useState } from 'preact/hooks';
import { go, useAction, useLoad } from '../hooks.ts';
import { Dialog, DialogForm } from '../parts/dialog.tsx';
import { Field, getText } from '../parts/field.tsx';
import { Icon } from '../parts/icon.tsx';
import { Empty, View, Waiting } from '../parts/view.tsx';
import type { Organization } from '../records.ts';
import { OrganizationView } from './organization.tsx';

export function Organizations({ id }: { id: string | undefined }) {
  return id === undefined ? <OrganizationList /> : <OrganizationView key={id} id={id} />;
}

function OrganizationList() {
  const [isCreating, setCreating] = useState(false);
  const list = useLoad('organizations', (get) =>
    get<{ organizations: readonly Organization[] }>('/api/organizations?limit=100'),
  );
  return (
    <View
      title="Organizations"
      lead="An organization is a group of users that share one credit balance."
      actions={
        <button type="button" class="primary" onClick={() => setCreating(true)}>
          <Icon of={Plus} /> New organization
        </button>
      }
    >
      <Waiting of={list} />
      {list.data?.organizations.length === 0 && (
        <Empty
          icon={Building2}
          title="No organizations yet."
          hint="Create one and invite its members by e-mail."
        />
      )}
      <ul class="cards">
        {list.data?.organizations.map(({ _id, name, description, memberCount }) => (
          <li key={_id}>
            <a class="card" href={`#/organizations/${_id}`}>
              <h2>{name}</h2>
              {description !== null && <p class="quiet">{description}</p>}
              <p class="quiet small-text">{memberCount === 1 ? '1 member' : `${memberCount} members`}</p>
            </a>
          </li>
        ))}
      </ul>
      {isCreating && <NewOrganization onClose={() => setCreating(false)} />}
    </View>
  );
}

function NewOrganization({ onClose }: { onClose: () => void }) {
  const { busy, error, run } = useAction();
  const create = (form: HTMLFormElement) =>
    run(async (call) => {
      const input = { name: getText(form, 'name'), description: getText(form, 'description') || null };
      go('organizations', (await call<Organization>('POST', '/api/organizations', input))._id);
    });
  return (
    <Dialog title="New organization" onClose={onClose}>
      <DialogForm
        onSubmit={(form) => void create(form)}
        error={error}
        busy={busy}
        submit="Create organization"
      >
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
