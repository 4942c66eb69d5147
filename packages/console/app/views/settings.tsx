import { useLoad, useSaved, useSerialAction } from '../hooks.ts';
import { ErrorMessage, View, Waiting } from '../parts/view.tsx';
import type { Model, Setting } from '../records.ts';
import { getGroups, type Meaning } from './setting-meanings.ts';

/** The settings of the whole workspace, for administrators. */
export function Settings() {
  const list = useLoad('settings', (get) => get<{ settings: readonly Setting[] }>('/api/settings'));
  const models = useLoad('models', (get) => get<{ models: readonly Model[] }>('/api/models'));
  return (
    <View title="Settings" lead="They apply to the whole workspace and are saved at once.">
      <Waiting of={list} />
      <div class="settings">
        {getGroups(list.data?.settings ?? []).map(({ title, settings }) => (
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

/** One setting, saved on change. */
function One({ setting: { settingName: key, settingValue: value }, meaning, models, onChange }: OneProps) {
  const { error, runInTurn } = useSerialAction();
  // Shows the new value at once, and the stored one again if the server rejects it.
  const { shown, show, choose } = useSaved<unknown>(value, async (next) => {
    const isSaved = await runInTurn((call) => call('PUT', '/api/settings/update', { key, value: next }));
    onChange();
    return isSaved;
  });
  const { label, hint, modelType } = meaning;
  const about = { 'aria-describedby': `about-${key}` };
  return (
    <div>
      {typeof value === 'boolean' ? (
        <label class="check">
          <input
            type="checkbox"
            checked={shown === true}
            onChange={(event) => choose(event.currentTarget.checked)}
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
              // Reloading the list does not overwrite what the user types.
              onInput={(event) => show(event.currentTarget.value)}
              onChange={(event) => choose(parsed(event.currentTarget.value, typeof value === 'number'))}
              {...about}
            />
          ) : (
            <select
              value={shown === null ? '' : String(shown)}
              onChange={(event) => choose(parsed(event.currentTarget.value, false))}
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
      <ErrorMessage text={error} />
    </div>
  );
}

function parsed(text: string, isNumber: boolean): unknown {
  if (isNumber) return Number(text);
  return text.trim() === '' ? null : text.trim();
}
