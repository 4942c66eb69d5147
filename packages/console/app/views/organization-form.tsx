import { useAction } from '../hooks.ts';
import { Dialog, DialogForm } from '../parts/dialog.tsx';
import { Field, getText, getTexts } from '../parts/field.tsx';
import { ModelChoices } from '../parts/model-choices.tsx';
import type { Organization } from '../records.ts';

interface FormProps {
  readonly organization: Organization;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

/** The dialog that renames an organization, describes it and limits its models. */
export function OrganizationForm({ organization, onClose, onSaved }: FormProps) {
  const { busy, error, run } = useAction();
  const { _id, name, description, models } = organization;
  const save = async (form: HTMLFormElement): Promise<void> => {
    const chosen = getTexts(form, 'models');
    const body = {
      name: getText(form, 'name'),
      description: getText(form, 'description') || null,
      models: chosen.length === 0 ? null : chosen,
    };
    if (await run((call) => call('PATCH', `/api/organizations/${_id}`, body))) onSaved();
  };
  return (
    <Dialog title="Change the organization" onClose={onClose}>
      <DialogForm onSubmit={(form) => void save(form)} error={error} busy={busy} submit="Save">
        <Field label="Name">
          <input name="name" required maxLength={255} defaultValue={name} />
        </Field>
        <Field label="Description">
          <input name="description" maxLength={1000} defaultValue={description ?? ''} />
        </Field>
        <ModelChoices
          summary="Only some models"
          legend="Without a choice, it pays for work of all models."
          selected={models ?? []}
        />
      </DialogForm>
    </Dialog>
  );
}
