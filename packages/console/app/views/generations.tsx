import { type Client, follow } from '@questline/client';
import { getMusicGenerationEvents, getVideoGenerationEvents } from '@questline/client/operations';
import { Clapperboard } from 'lucide';
import { useEffect, useState } from 'preact/hooks';
import { ApiFailure } from '../api.ts';
import { useApp } from '../context.ts';
import { type Get, type Loaded, useAction, useLoad } from '../hooks.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Field, getText } from '../parts/field.tsx';
import { credits, when } from '../parts/format.ts';
import { MediaShown } from '../parts/media.tsx';
import { Table } from '../parts/table.tsx';
import { Badge, Empty, ErrorMessage, View, Waiting } from '../parts/view.tsx';
import type { CursorPage, Generation, GenerationModel } from '../records.ts';
import { hasNoEvents } from '../turn.ts';

/** For jobs that are not followed: further ones, and results in moderation. */
const POLL_MS = 1500;

/** Browsers have six connections per server, for all pages together. */
const MAX_FOLLOWED = 2;

/** The two kinds, as API paths name them. */
type Kind = 'video' | 'music';

/** A model or a job, with its kind. */
type Of<T> = T & { readonly kind: Kind };

/** Video and music jobs: create, follow, play. */
export function Generations() {
  const models = useLoad('generation-models', (get) => both((kind) => getModels(kind, get)));
  const jobs = useLoad('generations', (get) => both((kind) => getJobs(kind, get)));
  useChanges(jobs);
  const { busy, error, run } = useAction();
  const [played, setPlayed] = useState<Generation>();
  const newestFirst = jobs.data && [...jobs.data].sort((a, b) => (a.created_at < b.created_at ? 1 : -1));

  const begin = async (form: HTMLFormElement): Promise<void> => {
    const model = models.data?.find(({ id }) => id === getText(form, 'model'));
    if (model === undefined) return;
    const seconds = getText(form, 'seconds');
    const input = {
      model: model.id,
      prompt: getText(form, 'prompt'),
      ...(seconds !== '' && { duration_seconds: Number(seconds) }),
    };
    await run((call) => call('POST', `/api/v1/${model.kind}-generations`, input));
    jobs.reload();
  };
  const cancel = async ({ kind, id }: Of<Generation>): Promise<void> => {
    await run((call) => call('POST', `/api/v1/${kind}-generations/${id}/cancel`));
    jobs.reload();
  };

  return (
    <View title="Video and music" lead="Jobs run on; the result appears here and in your files.">
      {models.data?.length === 0 && (
        <Empty
          icon={Clapperboard}
          title="No video or music model is available."
          hint="A provider with such models needs a key."
        />
      )}
      {models.data !== undefined && models.data.length > 0 && (
        <form
          class="card"
          onSubmit={(event) => {
            event.preventDefault();
            void begin(event.currentTarget);
          }}
        >
          <Field label="Prompt">
            <textarea name="prompt" rows={2} required maxLength={2000} />
          </Field>
          <div class="row">
            <Field label="Model">
              <select name="model">
                {models.data.map(({ kind, id, display_name }) => (
                  <option key={`${kind} ${id}`} value={id}>
                    {`${display_name} (${kind})`}
                  </option>
                ))}
              </select>
            </Field>
            <Field label="Seconds">
              <input name="seconds" type="number" min="1" placeholder="default" />
            </Field>
            <button type="submit" class="primary" disabled={busy}>
              Generate
            </button>
          </div>
        </form>
      )}
      <ErrorMessage text={error} />
      <Waiting of={models.data === undefined ? models : jobs} />
      <Table
        caption="Jobs"
        rows={newestFirst}
        getKey={({ id }) => id}
        empty={models.data?.length !== 0 && <Empty icon={Clapperboard} title="No jobs yet." />}
        columns={[
          { head: 'Prompt', cell: ({ prompt }) => prompt },
          { head: 'Model', cell: ({ model }) => model },
          { head: 'State', cell: (job) => <Progress of={job} /> },
          {
            head: 'Credits',
            isNumber: true,
            cell: ({ credits: { settled, reserved } }) => credits(settled ?? reserved ?? 0),
          },
          { head: 'Started', cell: ({ created_at }) => when(created_at) },
          {
            head: 'Actions',
            isActions: true,
            cell: (job) => (
              <>
                {job.output?.url && (
                  <button type="button" class="small" onClick={() => setPlayed(job)}>
                    Play
                  </button>
                )}
                {CANCELLABLE.includes(job.state) && (
                  <button type="button" class="small" disabled={busy} onClick={() => void cancel(job)}>
                    Cancel
                  </button>
                )}
              </>
            ),
          },
        ]}
      />
      {played?.output?.url && (
        <Dialog title={played.prompt} onClose={() => setPlayed(undefined)} isWide>
          <MediaShown name={played.prompt} url={played.output.url} mimeType={played.output.content_type} />
        </Dialog>
      )}
    </View>
  );
}

const CANCELLABLE: readonly string[] = ['pending', 'running'];
const RUNNING: readonly string[] = [...CANCELLABLE, 'storing'];

/** Whether the job can still change. */
function isLive({ state, output }: Generation): boolean {
  return RUNNING.includes(state) || output?.availability === 'pending_scan';
}

function Progress({ of: { state, progress, error, output } }: { of: Generation }) {
  if (error !== null) return <Badge state={state}>{`${state}: ${error.message}`}</Badge>;
  if (state === 'succeeded' && output?.availability !== 'ready') {
    return <>{output?.availability === 'pending_scan' ? 'in moderation' : 'not available'}</>;
  }
  return state === 'running' && progress !== null ? (
    <progress value={progress} aria-label={`${Math.round(progress * 100)} % done`} />
  ) : (
    <Badge state={state} />
  );
}

/** Loads the jobs again when one changes. */
function useChanges({ data, reload }: Loaded<readonly Of<Generation>[]>): void {
  const { client } = useApp();
  const [isPolled, setPolled] = useState(false);
  const live = data?.filter(isLive) ?? [];
  const followed = live.filter(({ state }) => RUNNING.includes(state)).slice(0, MAX_FOLLOWED);
  useEffect(() => {
    const leaving = new AbortController();
    for (const { kind, id } of followed) {
      followJob(client, kind, id, reload, leaving.signal).catch((error: unknown) => {
        if (leaving.signal.aborted) return;
        setPolled(true);
        if (!hasNoEvents(error)) reload();
      });
    }
    return () => leaving.abort();
  }, [followed.map(({ id }) => id).join()]);
  useEffect(() => {
    if (live.length === 0 || (!isPolled && live.length === followed.length)) return;
    const timer = setTimeout(reload, POLL_MS);
    return () => clearTimeout(timer);
  }, [data, isPolled]);
}

/** Reports each change of a job to its end. */
async function followJob(
  client: Client,
  kind: Kind,
  id: string,
  onChange: () => void,
  signal: AbortSignal,
): Promise<void> {
  const input = { params: { id } };
  const events =
    kind === 'video'
      ? follow(client, getVideoGenerationEvents, input, { signal })
      : follow(client, getMusicGenerationEvents, input, { signal });
  for await (const _ of events) onChange();
}

async function both<T>(load: (kind: Kind) => Promise<readonly T[]>): Promise<Of<T>[]> {
  const of = async (kind: Kind) => (await orNone(load(kind))).map((one) => ({ ...one, kind }));
  return (await Promise.all([of('video'), of('music')])).flat();
}

/** A host may leave out one of the kinds. */
function orNone<T>(list: Promise<readonly T[]>): Promise<readonly T[]> {
  return list.catch((error: unknown) => {
    if (error instanceof ApiFailure && error.status === 404) return [];
    throw error;
  });
}

async function getModels(kind: Kind, get: Get): Promise<readonly GenerationModel[]> {
  return (await get<{ models: readonly GenerationModel[] }>(`/api/v1/${kind}-models`)).models;
}

async function getJobs(kind: Kind, get: Get): Promise<readonly Generation[]> {
  return (await get<CursorPage<Generation>>(`/api/v1/${kind}-generations?limit=50`)).data;
}
