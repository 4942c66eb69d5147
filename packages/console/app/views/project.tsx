import { useState } from 'preact/hooks';
import { useApp } from '../context.ts';
import { go, useLoad, useSerialAction } from '../hooks.ts';
import { useLeave } from '../parts/leave.ts';
import { ShareDialog } from '../parts/share-dialog.tsx';
import { ErrorMessage, View, Waiting } from '../parts/view.tsx';
import type { CursorPage, Project, Session, WorkspaceFile } from '../records.ts';
import { ProjectForm } from './project-form.tsx';
import { ProjectMembers } from './project-members.tsx';

/** One project with its conversations and files. */
export function ProjectView({ id }: { id: string }) {
  const { ask, user } = useApp();
  const [opened, setOpened] = useState<'edit' | 'share'>();
  const project = useLoad(`project ${id}`, (get) => get<Project>(`/api/v1/projects/${id}`));
  const sessions = useLoad('project sessions', (get) =>
    get<CursorPage<Session>>('/api/v1/sessions?limit=100'),
  );
  const files = useLoad('project files', (get) => get<CursorPage<WorkspaceFile>>('/api/v1/files?limit=100'));
  const { error, runInTurn } = useSerialAction();
  const leaving = useLeave();
  const { data } = project;
  const isOwner = data?.owner_id === user?._id;
  const change = async (method: 'POST' | 'DELETE', member: string): Promise<void> => {
    await runInTurn((call) => call(method, `/api/v1/projects/${id}/${member}`));
    project.reload();
  };
  const remove = async (): Promise<void> => {
    const text = 'Its conversations and files stay.';
    const title = `Delete the project “${data?.name}”?`;
    if ((await ask({ title, text, action: 'Delete', isDanger: true })) === undefined) return;
    if (await runInTurn((call) => call('DELETE', `/api/v1/projects/${id}`))) go('projects');
  };
  const leave = async (): Promise<void> => {
    if (await leaving.leave({ type: 'project', id, name: data?.name ?? '' })) go('shared');
  };
  return (
    <View
      title={data?.name ?? 'Project'}
      {...(data !== undefined && { lead: data.description })}
      actions={
        data !== undefined && (
          <>
            <button type="button" onClick={() => setOpened('edit')}>
              Edit
            </button>
            {isOwner ? (
              <>
                <button type="button" onClick={() => setOpened('share')}>
                  Share
                </button>
                <button type="button" class="danger-text" onClick={() => void remove()}>
                  Delete
                </button>
              </>
            ) : (
              <button type="button" class="danger-text" onClick={() => void leave()}>
                Leave
              </button>
            )}
          </>
        )
      }
    >
      <p class="crumb">
        {isOwner ? <a href="#/projects">All projects</a> : <a href="#/shared">Shared with me</a>}
      </p>
      <ErrorMessage text={error ?? leaving.error} />
      <Waiting of={project} />
      {data !== undefined && (
        <div class="columns">
          <ProjectMembers
            title="Conversations"
            noun="conversation"
            ids={data.session_ids}
            all={(sessions.data?.data ?? []).map((one) => ({ id: one.id, name: one.name }))}
            getHref={(one) => `#/chat/${one}`}
            onAdd={(one) => void change('POST', `sessions/${one}`)}
            onRemove={(one) => void change('DELETE', `sessions/${one}`)}
          />
          <ProjectMembers
            title="Files"
            noun="file"
            ids={data.file_ids}
            all={(files.data?.data ?? []).map((one) => ({ id: one.id, name: one.file_name }))}
            getHref={() => '#/files'}
            onAdd={(one) => void change('POST', `files/${one}`)}
            onRemove={(one) => void change('DELETE', `files/${one}`)}
          />
        </div>
      )}
      {opened === 'share' && data !== undefined && (
        <ShareDialog type="project" id={id} name={data.name} onClose={() => setOpened(undefined)} />
      )}
      {opened === 'edit' && data !== undefined && (
        <ProjectForm
          project={data}
          onClose={() => setOpened(undefined)}
          onSaved={() => {
            setOpened(undefined);
            project.reload();
          }}
        />
      )}
    </View>
  );
}
