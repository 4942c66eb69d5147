import { FolderKanban, Plus } from 'lucide';
import { useState } from 'preact/hooks';
import { go, useLoad } from '../hooks.ts';
import { when } from '../parts/format.ts';
import { Icon } from '../parts/icon.tsx';
import { Empty, View, Waiting } from '../parts/view.tsx';
import type { CursorPage, Project } from '../records.ts';
import { ProjectView } from './project.tsx';
import { ProjectForm } from './project-form.tsx';

export function Projects({ id }: { id: string | undefined }) {
  return id === undefined ? <ProjectList /> : <ProjectView key={id} id={id} />;
}

function ProjectList() {
  const [isCreating, setCreating] = useState(false);
  const list = useLoad('projects', (get) => get<CursorPage<Project>>('/api/v1/projects?limit=100'));
  return (
    <View
      title="Projects"
      lead="Conversations and files that belong together."
      actions={
        <button type="button" class="primary" onClick={() => setCreating(true)}>
          <Icon of={Plus} /> New project
        </button>
      }
    >
      <Waiting of={list} />
      {list.data?.data.length === 0 && (
        <Empty
          icon={FolderKanban}
          title="No projects yet."
          hint="Put the conversations and files of one piece of work into a project, and share it."
        />
      )}
      <ul class="cards">
        {list.data?.data.map(({ id, name, description, session_ids, file_ids, updated_at }) => (
          <li key={id}>
            <a class="card" href={`#/projects/${id}`}>
              <h2>{name}</h2>
              <p class="quiet">{description}</p>
              <p class="quiet small-text">
                {count(session_ids.length, 'conversation')} · {count(file_ids.length, 'file')} ·{' '}
                {when(updated_at)}
              </p>
            </a>
          </li>
        ))}
      </ul>
      {isCreating && (
        <ProjectForm
          project={undefined}
          onClose={() => setCreating(false)}
          onSaved={(project) => go('projects', project.id)}
        />
      )}
    </View>
  );
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
