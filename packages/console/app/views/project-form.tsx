import { useAction } from '../hooks.ts';
import { Dialog, DialogForm } from '../parts/dialog.tsx';
import { Field, getText } from '../parts/field.tsx';
import type { Project } from '../records.ts';

interface FormProps {
  readonly project: Project | undefined;
  readonly onClose: () => void;
  readonly onSaved: (project: Project) => void;
}

export function ProjectForm({ project, onClose, onSaved }: FormProps) {
  const { busy, error, run } = useAction();
  const save = (form: HTMLFormElement) =>
    run(async (call) => {
      const input = { name: getText(form, 'name'), description: getText(form, 'description') };
      const path = project === undefined ? '/api/v1/projects' : `/api/v1/projects/${project.id}`;
      onSaved(await call<Project>(project === undefined ? 'POST' : 'PATCH', path, input));
    });
  return (
    <Dialog title={project === undefined ? 'New project' : `Edit ${project.name}`} onClose={onClose}>
      <DialogForm
        onSubmit={(form) => void save(form)}
        error={error}
        busy={busy}
        submit={project === undefined ? 'Create project' : 'Save'}
      >
        <Field label="Name">
          <input name="name" required maxLength={255} defaultValue={project?.name ?? ''} />
        </Field>
        <Field label="Description">
          <textarea name="description" rows={3} required defaultValue={project?.description ?? ''} />
        </Field>
      </DialogForm>
    </Dialog>
  );
}
