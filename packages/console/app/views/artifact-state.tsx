import { useLoad, useSaved, useSerialAction } from '../hooks.ts';
import { Field } from '../parts/field.tsx';
import { Badge, ErrorMessage } from '../parts/view.tsx';
import type { Artifact, CursorPage, Permission } from '../records.ts';

const STATES: Readonly<Record<string, string>> = {
  draft: 'Draft',
  review: 'In review',
  published: 'Published',
  archived: 'Archived',
};

const VISIBILITIES: Readonly<Record<string, string>> = {
  private: 'Private',
  project: 'Project',
  organization: 'Organization',
  public: 'Public',
};

/** Who reads an artifact, beside its owner and the users with a share. */
const READERS: Readonly<Record<string, string>> = {
  private: 'You, and those it is shared with.',
  project: 'Also the readers of its project.',
  organization: 'Also the members of your organization.',
  public: 'Every user of this workspace.',
};

interface ArtifactStateProps {
  readonly artifact: Artifact;
  readonly isOwner: boolean;
  /** The share of the user. Undefined: the owner, or a reader by visibility. */
  readonly permission: Permission | undefined;
  readonly onChange: () => void;
}

/** The type, status and visibility of an artifact. Writers change the status, the owner the visibility too. */
export function ArtifactState({ artifact, isOwner, permission, onChange }: ArtifactStateProps) {
  const { id, type, status, visibility } = artifact;
  const { error, runInTurn } = useSerialAction();
  const save = async (
    change: { readonly status: string } | { readonly visibility: string },
  ): Promise<boolean> => {
    const isSaved = await runInTurn((call) => call('PATCH', `/api/v1/artifacts/${id}`, change));
    if (isSaved) onChange();
    return isSaved;
  };
  if (!isOwner && permission !== 'write') {
    return (
      <p class="badges">
        <Badge state={type} /> <Badge state={status}>{STATES[status] ?? status}</Badge>
      </p>
    );
  }
  return (
    <div class="artifact-state">
      <Field label="Status" hint={`Type: ${type}`}>
        <Choice options={STATES} value={status} onSave={(next) => save({ status: next })} />
      </Field>
      {isOwner && (
        <Field label="Visibility" hint={READERS[visibility] ?? ''}>
          <Choice options={VISIBILITIES} value={visibility} onSave={(next) => save({ visibility: next })} />
        </Field>
      )}
      <ErrorMessage text={error} />
    </div>
  );
}

interface ChoiceProps {
  readonly options: Readonly<Record<string, string>>;
  readonly value: string;
  readonly onSave: (value: string) => Promise<boolean>;
  readonly 'aria-describedby'?: string;
}

/** Saved on change: shows the new value at once, and the old one again if the server rejects it. */
function Choice({ options, value, onSave, ...described }: ChoiceProps) {
  const { shown, choose } = useSaved(value, onSave);
  return (
    <select value={shown} {...described} onChange={(event) => choose(event.currentTarget.value)}>
      {Object.entries(options).map(([name, title]) => (
        <option key={name} value={name}>
          {title}
        </option>
      ))}
    </select>
  );
}

/** The permission of the user's share: only lists have it. @param isOwner undefined while it is loading. */
export function usePermission(id: string, isOwner: boolean | undefined): Permission | undefined {
  const { data } = useLoad(`permission ${id} ${isOwner}`, async (get) => {
    if (isOwner !== false) return undefined;
    type Row = Artifact & { readonly permission?: Permission };
    const { data: rows } = await get<CursorPage<Row>>('/api/v1/artifacts?shared=true&limit=100');
    return rows.find((row) => row.id === id)?.permission;
  });
  return data;
}
