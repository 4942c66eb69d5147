import type { Model } from '../records.ts';

interface ModelSelectProps {
  readonly models: readonly Model[];
  readonly value: string;
  readonly onChange: (id: string) => void;
}

/** The chat models, by provider. */
export function ModelSelect({ models, value, onChange }: ModelSelectProps) {
  const backends = [...new Set(models.map(({ backend }) => backend))];
  return (
    <select
      class="ghost model-select"
      aria-label="Model"
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      <option value="">Default model</option>
      {value !== '' && !models.some(({ id }) => id === value) && <option value={value}>{value}</option>}
      {backends.map((backend) => (
        <optgroup key={backend} label={backend}>
          {models
            .filter((model) => model.backend === backend)
            .map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
        </optgroup>
      ))}
    </select>
  );
}
