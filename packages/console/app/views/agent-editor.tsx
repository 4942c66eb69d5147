import { useAction, useLoad } from '../hooks.ts';
import { Dialog, DialogForm } from '../parts/dialog.tsx';
import { Field, getText, getTexts } from '../parts/field.tsx';
import type { Agent, ListedAgent, Model } from '../records.ts';

/** The tools that a server offers without further setup. Names beyond these are kept. */
const TOOLS: Readonly<Record<string, string>> = {
  web_search: 'Web search',
  web_fetch: 'Read web pages',
  knowledge_search: 'Search data lakes',
  create_chart: 'Charts',
  create_diagram: 'Diagrams',
  generate_image: 'Images',
  calculator: 'Calculator',
  current_datetime: 'Date and time',
  weather_info: 'Weather',
};

interface EditorProps {
  readonly agent: ListedAgent | undefined;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

export function AgentEditor({ agent, onClose, onSaved }: EditorProps) {
  const { busy, error, run } = useAction();
  const { data } = useLoad('models', (get) => get<{ models: readonly Model[] }>('/api/models'));
  const models = data?.models.filter(({ type }) => type === 'text') ?? [];
  const allowed = agent?.allowed_tools ?? null;
  const names = { ...TOOLS, ...Object.fromEntries((allowed ?? []).map((id) => [id, TOOLS[id] ?? id])) };

  const save = async (form: HTMLFormElement): Promise<void> => {
    const input = readAgent(form, Object.keys(names));
    const isPublic = getText(form, 'access') === 'public';
    const done = await run(async (call) => {
      const saved =
        agent === undefined
          ? await call<Agent>('POST', '/api/v1/agents', input)
          : await call<Agent>('PATCH', `/api/v1/agents/${agent.id}`, input);
      if (isPublic !== (agent?.isPublic ?? false)) await call('PUT', `/api/agents/${saved.id}`, { isPublic });
    });
    if (done) onSaved();
  };

  return (
    <Dialog title={agent === undefined ? 'New agent' : `Edit ${agent.name}`} onClose={onClose} isWide>
      <DialogForm onSubmit={(form) => void save(form)} error={error} busy={busy} submit="Save">
        <div class="row">
          <Field label="Name">
            <input name="name" required maxLength={100} defaultValue={agent?.name ?? ''} />
          </Field>
          <Field label="Trigger words" hint="Separated by spaces, e.g. @poet @bard.">
            <input
              name="words"
              defaultValue={agent?.trigger_words.join(' ') ?? ''}
              placeholder="From the name"
            />
          </Field>
        </div>
        <Field label="Description">
          <input name="description" defaultValue={agent?.description ?? ''} />
        </Field>
        <Field
          label="Instructions"
          hint="Visible only to you, and to administrators while you publish the agent."
        >
          <textarea name="prompt" rows={5} defaultValue={agent?.system_prompt ?? ''} />
        </Field>
        <div class="row">
          <Field label="Preferred model" hint="Used by conversations without a chosen model.">
            <select name="model" key={models.length} defaultValue={agent?.preferred_model ?? ''}>
              <option value="">Any</option>
              {models.map(({ id, name }) => (
                <option key={id} value={id} selected={id === agent?.preferred_model}>
                  {name}
                </option>
              ))}
            </select>
          </Field>
          <Field label="Temperature" hint="0 to 2; empty for the default.">
            <input
              name="temperature"
              type="number"
              min="0"
              max="2"
              step="0.1"
              defaultValue={agent?.temperature?.toString() ?? ''}
            />
          </Field>
        </div>
        <fieldset class="choices">
          <legend>Allowed tools</legend>
          {Object.entries(names).map(([id, name]) => (
            <label key={id} class="check">
              <input type="checkbox" name="tools" value={id} defaultChecked={allowed?.includes(id) ?? true} />
              {name}
            </label>
          ))}
        </fieldset>
        <Field label="Access" hint="An administrator may have to approve a public agent first.">
          <select name="access">
            <option value="private">Only you, and those you share it with</option>
            <option value="public" selected={agent?.isPublic === true}>
              Public: all users
            </option>
          </select>
        </Field>
      </DialogForm>
    </Dialog>
  );
}

function readAgent(form: HTMLFormElement, tools: readonly string[]) {
  const name = getText(form, 'name');
  const words = getText(form, 'words').split(/\s+/).filter(Boolean);
  const temperature = getText(form, 'temperature');
  const allowed = getTexts(form, 'tools');
  return {
    name,
    description: getText(form, 'description'),
    system_prompt: getText(form, 'prompt'),
    // Without a word the agent cannot be called.
    trigger_words: words.length > 0 ? words : [toWord(name)].filter((word) => word !== '@'),
    preferred_model: getText(form, 'model') || null,
    temperature: temperature === '' ? null : Number(temperature),
    allowed_tools: allowed.length === tools.length ? null : allowed,
  };
}

function toWord(name: string): string {
  return `@${name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '')}`;
}
