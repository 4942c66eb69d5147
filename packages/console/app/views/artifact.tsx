import { useState } from 'preact/hooks';
import { useApp } from '../context.ts';
import { Diagram } from '../drawings/diagram.tsx';
import { go, useLoad, useSerialAction } from '../hooks.ts';
import { CodeBlock } from '../parts/code-block.tsx';
import { wholeDate } from '../parts/format.ts';
import { useLeave } from '../parts/leave.ts';
import { Markdown } from '../parts/markdown.tsx';
import { ShareDialog } from '../parts/share-dialog.tsx';
import { ErrorMessage, View, Waiting } from '../parts/view.tsx';
import type { Artifact, ArtifactVersion, CursorPage } from '../records.ts';
import { ArtifactState, usePermission } from './artifact-state.tsx';

/** The language of a type's content; other types are shown as text. */
const LANGUAGES: Readonly<Record<string, string>> = {
  python: 'python',
  react: 'javascript',
  html: 'xml',
  svg: 'xml',
  recharts: 'json',
};

/** One artifact in one of its versions. Content is shown, never run. */
export function ArtifactView({ id }: { id: string }) {
  const { ask, user } = useApp();
  const path = `/api/v1/artifacts/${id}`;
  const artifact = useLoad(path, (get) => get<Artifact>(path));
  const versions = useLoad(`${path}/versions`, (get) =>
    get<CursorPage<ArtifactVersion>>(`${path}/versions?limit=100`),
  );
  const [wanted, setWanted] = useState<number>();
  const version = wanted ?? artifact.data?.version;
  const content = useLoad(`${path} ${version}`, async (get) =>
    version === undefined ? undefined : get<ArtifactVersion>(`${path}/versions/${version}`),
  );
  const { error, runInTurn } = useSerialAction();
  const [isSharing, setSharing] = useState(false);
  const leaving = useLeave();
  const { data } = artifact;
  const isOwner = data?.owner_id === user?._id;
  const permission = usePermission(id, data && isOwner);
  const remove = async (): Promise<void> => {
    const text = 'All its versions are deleted. This cannot be undone.';
    if (
      (await ask({ title: `Delete “${data?.title}”?`, text, action: 'Delete', isDanger: true })) === undefined
    )
      return;
    if (await runInTurn((call) => call('DELETE', path))) go('artifacts');
  };
  const leave = async (): Promise<void> => {
    if (await leaving.leave({ type: 'artifact', id, name: data?.title ?? '' })) go('shared');
  };
  return (
    <View
      title={data?.title ?? 'Artifact'}
      {...(data?.description && { lead: data.description })}
      actions={
        data !== undefined && (
          <>
            <select
              aria-label="Version"
              value={version}
              onChange={(event) => setWanted(Number(event.currentTarget.value))}
            >
              {versions.data?.data.map((one) => (
                <option key={one.version} value={one.version}>
                  {`Version ${one.version}, ${wholeDate(one.created_at)}`}
                </option>
              ))}
            </select>
            {isOwner ? (
              <>
                <button type="button" onClick={() => setSharing(true)}>
                  Share
                </button>
                <button type="button" class="danger-text" onClick={() => void remove()}>
                  Delete
                </button>
              </>
            ) : (
              permission !== undefined && (
                <button type="button" class="danger-text" onClick={() => void leave()}>
                  Leave
                </button>
              )
            )}
          </>
        )
      }
    >
      <p class="crumb">
        {isOwner ? <a href="#/artifacts">All artifacts</a> : <a href="#/shared">Shared with me</a>}
      </p>
      <ErrorMessage text={error ?? leaving.error} />
      <Waiting of={artifact} />
      {data !== undefined && (
        <ArtifactState artifact={data} isOwner={isOwner} permission={permission} onChange={artifact.reload} />
      )}
      <Waiting of={content} />
      {data !== undefined && content.data !== undefined && (
        <Content type={data.type} title={data.title} text={content.data.content ?? ''} />
      )}
      {isSharing && data !== undefined && (
        <ShareDialog type="artifact" id={id} name={data.title} onClose={() => setSharing(false)} />
      )}
    </View>
  );
}

function Content({ type, title, text }: { type: string; title: string; text: string }) {
  if (type === 'mermaid') return <Diagram source={text} title={title} />;
  if (type === 'blog-draft' || type === 'file') return <Markdown text={text} />;
  return <CodeBlock code={text} language={LANGUAGES[type] ?? ''} />;
}
