import { useEffect, useState } from 'preact/hooks';
import { call } from '../api.ts';
import { useAction, useLoad } from '../hooks.ts';
import { Fault, View, Waiting } from '../parts/basics.tsx';
import type { Model, Setting } from '../records.ts';
import { groupsOf, type Meaning } from './setting-meanings.ts';

/** What the administrator decides for everybody. */
export function Settings() {
  const list = useLoad('settings', (signal) =>
    call<{ settings: readonly Setting[] }>('GET', '/api/settings', undefined, signal),
  );
  const models = useLoad('models', (signal) =>
    call<{ models: readonly Model[] }>('GET', '/api/models', undefined, signal),
  );
  return (
    <View title="Settings">
      <Waiting of={list} />
      <div class="settings">
        {groupsOf(list.data?.settings ?? []).map(({ title, settings }) => (
          <fieldset key={title}>
            <legend>{title}</legend>
            {settings.map(({ setting, meaning }) => (
              <One
                key={setting.settingName}
                setting={setting}
                meaning={meaning}
                models={models.data?.models ?? []}
                onChange={list.reload}
              />
            ))}
          </fieldset>
        ))}
      </div>
    </View>
  );
}

interface OneProps {
  readonly setting: Setting;
  readonly meaning: Meaning;
  readonly models: readonly Model[];
  readonly onChange: () => void;
}

/** One setting, saved as soon as it is changed. */
function One({ setting: { settingName: key, settingValue: value }, meaning, models, onChange }: OneProps) {
  const { error, run } = useAction();
  // What was chosen is shown at once, and what was before if it is refused.
  const [shown, setShown] = useState(value);
  useEffect(() => setShown(value), [value]);
  const save = async (next: unknown): Promise<void> => {
    setShown(next);
    if (!(await run(() => call('PUT', '/api/settings/update', { key, value: next })))) setShown(value);
    onChange();
  };
  const { label, hint, modelType } = meaning;
  const about = { 'aria-describedby': `about-${key}` };
  return (
    <div>
      {typeof value === 'boolean' ? (
        <label class="check">
          <input
            type="checkbox"
            checked={shown === true}
            onChange={(event) => void save(event.currentTarget.checked)}
            {...about}
          />
          {label}
        </label>
      ) : (
        // biome-ignore lint/a11y/noLabelWithoutControl: the control is inside.
        <label class="field">
          <span>{label}</span>
          {modelType === undefined ? (
            <input
              inputMode={typeof value === 'number' ? 'numeric' : 'text'}
              value={shown === null ? '' : String(shown)}
              // What is being typed stays when the list is loaded anew meanwhile.
              onInput={(event) => setShown(event.currentTarget.value)}
              onChange={(event) => void save(parsed(event.currentTarget.value, typeof value === 'number'))}
              {...about}
            />
          ) : (
            <select
              value={shown === null ? '' : String(shown)}
              onChange={(event) => void save(parsed(event.currentTarget.value, false))}
              {...about}
            >
              <option value="">None</option>
              {typeof value === 'string' && !models.some(({ id }) => id === value) && (
                <option>{value}</option>
              )}
              {models
                .filter(({ type }) => type === modelType)
                .map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
            </select>
          )}
        </label>
      )}
      <small id={`about-${key}`}>{hint}</small>
      <Fault text={error} />
    </div>
  );
}

function parsed(text: string, isNumber: boolean): unknown {
  if (isNumber) return Number(text);
  return text.trim() === '' ? null : text.trim();
}
