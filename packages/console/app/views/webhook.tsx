import { useState } from 'preact/hooks';
import { useApp } from '../context.ts';
import { go, useAction, useLoad } from '../hooks.ts';
import { Field } from '../parts/field.tsx';
import { wholeDate } from '../parts/format.ts';
import { Badge, ErrorMessage, View, Waiting } from '../parts/view.tsx';
import type { Webhook, WebhookDelivery } from '../records.ts';
import { WebhookDeliveries } from './webhook-deliveries.tsx';
import { WebhookForm, WebhookSecret, type WebhookWithSecret } from './webhook-form.tsx';

const REASONS: Readonly<Record<string, string>> = {
  owner: 'disabled by its owner',
  failing: 'no request was accepted for 24 hours',
  gone: 'the receiver answered with status 410',
};

/** One webhook, with its deliveries. */
export function WebhookView({ id }: { id: string }) {
  const { ask } = useApp();
  const path = `/api/webhooks/${id}`;
  const [isEditing, setEditing] = useState(false);
  const [shown, setShown] = useState<WebhookWithSecret>();
  const [status, setStatus] = useState('');
  const webhook = useLoad(path, (get) => get<Webhook>(path));
  const deliveries = useLoad(`${path} ${status}`, (get) =>
    get<{ deliveries: readonly WebhookDelivery[] }>(
      `${path}/deliveries?limit=100${status && `&status=${status}`}`,
    ),
  );
  const { busy, error, run } = useAction();
  const { data } = webhook;
  const isActive = data?.status === 'active';

  const setActive = async (): Promise<void> => {
    await run((call) => call('PATCH', path, { status: isActive ? 'disabled' : 'active' }));
    webhook.reload();
  };
  const rotate = async (): Promise<void> => {
    const text = 'For 24 hours requests are signed with the old and the new secret.';
    if ((await ask({ title: 'Replace the signing secret?', text, action: 'Rotate' })) === undefined) return;
    await run(async (call) => setShown(await call<WebhookWithSecret>('POST', `${path}/rotate-secret`, {})));
    webhook.reload();
  };
  const remove = async (): Promise<void> => {
    const text = 'Deliveries that wait are not sent any more.';
    const title = 'Delete the webhook?';
    if ((await ask({ title, text, action: 'Delete', isDanger: true })) === undefined) return;
    if (await run((call) => call('DELETE', path))) go('webhooks');
  };
  const post = async (action: string): Promise<void> => {
    await run((call) => call('POST', `${path}/${action}`, {}));
    deliveries.reload();
  };

  return (
    <View
      title={data?.description || 'Webhook'}
      {...(data !== undefined && { lead: data.url })}
      actions={
        data !== undefined && (
          <>
            <button type="button" onClick={() => setEditing(true)}>
              Edit
            </button>
            <button type="button" disabled={busy} onClick={() => void rotate()}>
              Rotate secret
            </button>
            <button type="button" disabled={busy} onClick={() => void setActive()}>
              {isActive ? 'Disable' : 'Enable'}
            </button>
            <button type="button" class="danger-text" disabled={busy} onClick={() => void remove()}>
              Delete
            </button>
            <button
              type="button"
              class="primary"
              disabled={busy || !isActive}
              onClick={() => void post('test')}
            >
              Send a test
            </button>
          </>
        )
      }
    >
      <p class="crumb">
        <a href="#/webhooks">All webhooks</a>
      </p>
      <ErrorMessage text={error} />
      <Waiting of={webhook} />
      {data !== undefined && (
        <p>
          <Badge state={data.status} />{' '}
          <span class="quiet">
            {data.disabledFor !== null && REASONS[data.disabledFor]}
            {data.previousSecretUntil !== null &&
              ` The previous secret signs until ${wholeDate(data.previousSecretUntil)}.`}
          </span>
        </p>
      )}
      <Field label="Show deliveries">
        <select value={status} onChange={(event) => setStatus(event.currentTarget.value)}>
          <option value="">All of the last 7 days</option>
          <option value="pending">Pending</option>
          <option value="delivered">Delivered</option>
          <option value="failed">Failed</option>
        </select>
      </Field>
      <p>
        <button type="button" class="small" onClick={deliveries.reload}>
          Refresh
        </button>
      </p>
      <Waiting of={deliveries} />
      <WebhookDeliveries
        rows={deliveries.data?.deliveries}
        onReplay={isActive ? (one) => void post(`deliveries/${one.id}/replay`) : undefined}
      />
      {isEditing && data !== undefined && (
        <WebhookForm
          webhook={data}
          onClose={() => setEditing(false)}
          onSaved={() => {
            setEditing(false);
            webhook.reload();
          }}
        />
      )}
      {shown !== undefined && <WebhookSecret shown={shown} onClose={() => setShown(undefined)} />}
    </View>
  );
}
