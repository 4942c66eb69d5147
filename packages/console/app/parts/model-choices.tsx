import { useLoad } from '../hooks.ts';
import type { Model } from '../records.ts';

interface ChoicesProps {
  readonly summary: string;
  /** What an empty choice means. */
  readonly legend: string;
  readonly selected?: readonly string[];
}

/** Check boxes `models`, one per model of the workspace. */
export function ModelChoices({ summary, legend, selected = [] }: ChoicesProps) {
  const { data } = useLoad('models', (get) => get<{ models: readonly Model[] }>('/api/models'));
  const known = data?.models.map(({ id, name }) => ({ id, name })) ?? [];
  // A selected model may have left the workspace since.
  const gone = selected.filter((id) => data !== undefined && known.every((one) => one.id !== id));
  return (
    <details open={selected.length > 0}>
      <summary>{summary}</summary>
      <fieldset class="choices">
        <legend>{legend}</legend>
        {[...known, ...gone.map((id) => ({ id, name: id }))].map(({ id, name }) => (
          <label key={id} class="check">
            <input type="checkbox" name="models" value={id} defaultChecked={selected.includes(id)} />
            {name}
          </label>
        ))}
      </fieldset>
    </details>
  );
}
