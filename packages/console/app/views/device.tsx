import { MonitorSmartphone } from 'lucide';
import { useState } from 'preact/hooks';
import { useAction } from '../hooks.ts';
import { Field, getText } from '../parts/field.tsx';
import { wholeDate } from '../parts/format.ts';
import { Empty, ErrorMessage, View } from '../parts/view.tsx';

interface Device {
  readonly client_id: string;
  readonly user_agent: string | null;
  readonly ip_address: string | null;
  readonly requested_at: string;
}

type Action = 'approve' | 'deny';

/** Signs a device in by the code that it shows. @param code from the address, to be confirmed by the user. */
export function DeviceLogin({ code }: { code: string | undefined }) {
  const { busy, error, run } = useAction();
  const [shown, setShown] = useState<{ readonly code: string; readonly device: Device }>();
  const [decided, setDecided] = useState<Action>();

  const look = (form: HTMLFormElement) =>
    run(async (call) => {
      const user_code = getText(form, 'code');
      const { device_info: device } = await call<{ device_info: Device }>(
        'POST',
        '/api/oauth/device/lookup',
        { user_code },
      );
      setShown({ code: user_code, device });
    });
  const decide = (action: Action) =>
    run(async (call) => {
      await call('POST', '/api/oauth/device/verify', { user_code: shown?.code, action });
      setDecided(action);
    });

  return (
    <View title="Sign in a device" lead="A program that shows you a code asks to work in your name.">
      {decided !== undefined && (
        <div role="status">
          <Empty
            icon={MonitorSmartphone}
            title={decided === 'approve' ? 'The device is signed in.' : 'The device was refused.'}
            hint="You can close this page."
          />
        </div>
      )}
      {decided === undefined && shown === undefined && (
        <form
          class="card row narrow-card"
          onSubmit={(event) => {
            event.preventDefault();
            void look(event.currentTarget);
          }}
        >
          <Field label="Code" hint="The code that the program shows, e.g. BDWP-HQPK.">
            <input name="code" required maxLength={50} autocomplete="off" defaultValue={code ?? ''} />
          </Field>
          <button type="submit" class="primary" disabled={busy}>
            Continue
          </button>
        </form>
      )}
      {decided === undefined && shown !== undefined && (
        <Request {...shown} busy={busy} onDecide={(action) => void decide(action)} />
      )}
      <ErrorMessage text={error} />
    </View>
  );
}

interface RequestProps {
  readonly code: string;
  readonly device: Device;
  readonly busy: boolean;
  readonly onDecide: (action: Action) => void;
}

/** What asks and from where. */
function Request({ code, device, busy, onDecide }: RequestProps) {
  const facts = [
    ['Code', code.toUpperCase()],
    ['Program', device.client_id],
    ['Its user agent', device.user_agent ?? 'not given'],
    ['Network address', device.ip_address ?? 'unknown'],
    ['Time of the request', wholeDate(device.requested_at)],
  ];
  return (
    <section class="card narrow-card" aria-label="Request">
      <dl class="request-facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt class="quiet">{name}</dt>
            <dd class={name === 'Code' ? 'user-code' : ''}>{value}</dd>
          </div>
        ))}
      </dl>
      <p>
        Approve only if you started this yourself and the code is the one that your program shows. It can then
        do everything that you can do here. Programs choose their own name and user agent.
      </p>
      <div class="actions">
        <button type="button" class="primary" disabled={busy} onClick={() => onDecide('approve')}>
          Approve
        </button>
        <button type="button" disabled={busy} onClick={() => onDecide('deny')}>
          Deny
        </button>
      </div>
    </section>
  );
}
