import { Shapes } from 'lucide';
import { useLoad } from '../hooks.ts';
import { when } from '../parts/format.ts';
import { Badge, Empty, View, Waiting } from '../parts/view.tsx';
import type { Artifact, CursorPage } from '../records.ts';
import { ArtifactView } from './artifact.tsx';

export function Artifacts({ id }: { id: string | undefined }) {
  return id === undefined ? <ArtifactList /> : <ArtifactView key={id} id={id} />;
}

function ArtifactList() {
  const list = useLoad('artifacts', (get) => get<CursorPage<Artifact>>('/api/v1/artifacts?limit=100'));
  const newest = list.data && [...list.data.data].reverse();
  return (
    <View title="Artifacts" lead="Documents, code, diagrams and pages that were saved, with their versions.">
      <Waiting of={list} />
      {newest?.length === 0 && (
        <Empty
          icon={Shapes}
          title="No artifacts yet."
          hint="Turn on Tools in a conversation and ask the model to save its result."
        />
      )}
      <ul class="cards">
        {newest?.map(({ id, type, title, description, version, status, visibility, updated_at }) => (
          <li key={id}>
            <a class="card" href={`#/artifacts/${id}`}>
              <h2>{title}</h2>
              {description !== null && <p class="quiet">{description}</p>}
              <p class="quiet small-text">
                <Badge state={type} /> <Badge state={status} />
                {visibility !== 'private' && <Badge state={visibility} />} Version {version} ·{' '}
                {when(updated_at)}
              </p>
            </a>
          </li>
        ))}
      </ul>
    </View>
  );
}
