import { X } from 'lucide';
import { Icon } from '../parts/icon.tsx';

interface Named {
  readonly id: string;
  readonly name: string;
}

interface ProjectMembersProps {
  readonly title: string;
  readonly noun: string;
  /** The ids in the project. */
  readonly ids: readonly string[];
  /** What the user could add. */
  readonly all: readonly Named[];
  readonly getHref: (id: string) => string;
  readonly onAdd: (id: string) => void;
  readonly onRemove: (id: string) => void;
}

/** The conversations, or the files, of a project. */
export function ProjectMembers({ title, noun, ids, all, getHref, onAdd, onRemove }: ProjectMembersProps) {
  const names = new Map(all.map(({ id, name }) => [id, name]));
  const others = all.filter(({ id }) => !ids.includes(id));
  return (
    <section class="card" aria-label={title}>
      <h2>{title}</h2>
      {ids.length === 0 && <p class="quiet">None yet.</p>}
      <ul class="plain-list">
        {ids.map((id) => {
          const name = names.get(id) ?? `A ${noun}`;
          return (
            <li key={id}>
              <a href={getHref(id)}>{name}</a>
              <button
                type="button"
                class="ghost icon-only small"
                aria-label={`Remove ${name}`}
                onClick={() => onRemove(id)}
              >
                <Icon of={X} size={15} />
              </button>
            </li>
          );
        })}
      </ul>
      {others.length > 0 && (
        <select
          aria-label={`Add a ${noun}`}
          value=""
          onChange={(event) => {
            const { value } = event.currentTarget;
            event.currentTarget.value = '';
            if (value !== '') onAdd(value);
          }}
        >
          <option value="">{`Add a ${noun}…`}</option>
          {others.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
    </section>
  );
}
