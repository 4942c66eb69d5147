import { call } from '../api.ts';
import { useAction, useLoad } from '../hooks.ts';
import { Fault, Field, View, Waiting } from '../parts/basics.tsx';
import type { Setting } from '../records.ts';

/** What the administrator decides for everybody. */
export function Settings() {
  const list = useLoad('settings', (signal) =>
    call<{ settings: readonly Setting[] }>('GET', '/api/settings', undefined, signal),
  );
  return (
    <View title="Settings">
      <Waiting of={list} />
      <div class="settings">
        {list.data?.settings.map((setting) => (
          <One key={setting.settingName} setting={setting} onChange={list.reload} />
        ))}
      </div>
    </View>
  );
}

function One({
  setting: { settingName: key, settingValue: value },
  onChange,
}: {
  setting: Setting;
  onChange: () => void;
}) {
  const { busy, error, run } = useAction();
  const save = (next: unknown): void => {
    void run(() => call('PUT', '/api/settings/update', { key, value: next })).then(onChange);
  };
  return (
    <div>
      {typeof value === 'boolean' ? (
        <label class="check">
          <input
            type="checkbox"
            checked={value}
            disabled={busy}
            onChange={(event) => save(event.currentTarget.checked)}
          />
          {key}
        </label>
      ) : (
        <Field label={key}>
          <input
            inputMode={typeof value === 'number' ? 'numeric' : 'text'}
            defaultValue={value === null ? '' : String(value)}
            disabled={busy}
            onChange={(event) => save(parsed(event.currentTarget.value, typeof value === 'number'))}
          />
        </Field>
      )}
      <Fault text={error} />
    </div>
  );
}

function parsed(text: string, isNumber: boolean): unknown {
  if (isNumber) return Number(text);
  return text.trim() === '' ? null : text.trim();
}
