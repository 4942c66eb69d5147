import { useAction } from '../hooks.ts';
import { CopyButton } from '../parts/copy.tsx';
import { Dialog, DialogForm } from '../parts/dialog.tsx';
import { Field, getText, getTexts } from '../parts/field.tsx';
import type { Webhook } from '../records.ts';

/** The events that a webhook can receive. */
const TYPES = [
  'quest.done',
  'quest.failed',
  'quest.stopped',
  'execution.done',
  'execution.failed',
  'execution.stopped',
  'generation.done',
  'generation.failed',
  'generation.stopped',
  'file.clean',
  'file.blocked',
  'key.revoked',
  'credits.low',
  'budget.threshold',
];

export type WebhookWithSecret = Webhook & { readonly secret: string };

interface FormProps {
  /** Absent: a new one. */
  readonly webhook?: Webhook;
  /** The organization that owns a new one. */
  readonly organizationId?: string;
  readonly onClose: () => void;
  readonly onSaved: (saved: WebhookWithSecret) => void;
}

/** The dialog that creates a webhook or changes it. */
export function WebhookForm({ webhook, organizationId, onClose, onSaved }: FormProps) {
  const { busy, error, run } = useAction();
  const save = (form: HTMLFormElement) =>
    run(async (call) => {
      const input = {
        url: getText(form, 'url'),
        description: getText(form, 'description'),
        types: getTexts(form, 'types'),
      };
      onSaved(
        webhook === undefined
          ? await call('POST', '/api/webhooks', { ...input, ...(organizationId && { organizationId }) })
          : await call('PATCH', `/api/webhooks/${webhook.id}`, input),
      );
    });
  return (
    <Dialog title={webhook === undefined ? 'New webhook' : 'Edit the webhook'} onClose={onClose}>
      <DialogForm
        onSubmit={(form) => void save(form)}
        error={error}
        busy={busy}
        submit={webhook === undefined ? 'Create webhook' : 'Save'}
      >
        <Field label="Address" hint="Receives a signed request for each event.">
          <input
            name="url"
            type="url"
            required
            maxLength={2000}
            placeholder="https://"
            defaultValue={webhook?.url}
          />
        </Field>
        <Field label="Description">
          <input name="description" maxLength={200} defaultValue={webhook?.description} />
        </Field>
        <fieldset class="choices">
          <legend>Events</legend>
          {TYPES.map((type) => (
            <label key={type} class="check">
              <input
                type="checkbox"
                name="types"
                value={type}
                defaultChecked={webhook?.types.includes(type) ?? true}
              />
              {type}
            </label>
          ))}
        </fieldset>
      </DialogForm>
    </Dialog>
  );
}

/** The signing secret of a new or rotated webhook. */
export function WebhookSecret({ shown, onClose }: { shown: WebhookWithSecret; onClose: () => void }) {
  return (
    <Dialog title="Signing secret" onClose={onClose}>
      <p>Copy the secret now. It is shown only once. The receiver verifies the signatures with it.</p>
      <pre class="secret">{shown.secret}</pre>
      <footer>
        <CopyButton text={shown.secret} name="Copy secret" label="Copy" />
      </footer>
    </Dialog>
  );
}
