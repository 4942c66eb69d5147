import { useEffect, useState } from 'preact/hooks';
import { call } from '../api.ts';
import { type Loaded, useAction, useLoad } from '../hooks.ts';
import { credits, Dialog, Fault, Field, Table, textOf, View, Waiting, when } from '../parts/basics.tsx';
import { MediaShown } from '../parts/media.tsx';
import type { CursorPage, Generation, GenerationModel } from '../records.ts';

const LOOK_AGAIN_MS = 1500;

/** What the paths of the api call the two kinds. */
type Kind = 'video' | 'music';

/** A model or a job, with what it is about. */
type Of<T> = T & { readonly kind: Kind };

/** Films and music, which take their time: asked for here, watched, and played. */
export function Generations() {
  const models = useLoad('generation-models', (signal) => both((kind) => modelsOf(kind, signal)));
  const jobs = useLoad('generations', (signal) => both((kind) => jobsOf(kind, signal)));
  useLooksAgain(jobs);
  const { busy, error, run } = useAction();
  const [played, setPlayed] = useState<Generation>();
  const newestFirst = jobs.data && [...jobs.data].sort((a, b) => (a.created_at < b.created_at ? 1 : -1));

  const begin = (form: HTMLFormElement): void => {
    const model = models.data?.find(({ id }) => id === textOf(form, 'model'));
    if (model === undefined) return;
    const seconds = textOf(form, 'seconds');
    const wish = {
      model: model.id,
      prompt: textOf(form, 'prompt'),
      ...(seconds !== '' && { duration_seconds: Number(seconds) }),
    };
    void run(() => call('POST', `/api/v1/${model.kind}-generations`, wish)).then(jobs.reload);
  };
  const cancel = ({ kind, id }: Of<Generation>): void => {
    void run(() => call('POST', `/api/v1/${kind}-generations/${id}/cancel`)).then(jobs.reload);
  };

  return (
    <View title="Films and music">
      {models.data?.length === 0 && <p class="quiet empty">No model here makes films or music.</p>}
      {models.data !== undefined && models.data.length > 0 && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            begin(event.currentTarget);
          }}
        >
          <Field label="What it is to be">
            <textarea name="prompt" rows={2} required maxLength={2000} />
          </Field>
          <div class="row">
            <Field label="Model">
              <select name="model">
                {models.data.map(({ kind, id, display_name }) => (
                  <option key={`${kind} ${id}`} value={id}>
                    {`${display_name} (${kind === 'video' ? 'film' : 'music'})`}
                  </option>
                ))}
              </select>
            </Field>
            <Field label="Seconds">
              <input name="seconds" type="number" min="1" placeholder="as usual" />
            </Field>
            <button type="submit" class="main" disabled={busy}>
              Make it
            </button>
          </div>
        </form>
      )}
      <Fault text={error} />
      <Waiting of={models.data === undefined ? models : jobs} />
      <Table
        caption="What was asked for"
        heads={['What', 'Model', 'State', 'Credits', 'Begun', 'Actions']}
        numbers={['Credits']}
        rows={newestFirst}
        empty="Nothing yet."
        row={(job) => (
          <tr key={job.id}>
            <th scope="row">{job.prompt}</th>
            <td>{job.model}</td>
            <td>
              <Progress of={job} />
            </td>
            <td class="number">{credits(job.credits.settled ?? job.credits.reserved ?? 0)}</td>
            <td>{when(job.created_at)}</td>
            <td class="row">
              {job.output?.url && (
                <button type="button" onClick={() => setPlayed(job)}>
                  Play
                </button>
              )}
              {CANCELLABLE.includes(job.state) && (
                <button type="button" disabled={busy} onClick={() => cancel(job)}>
                  Cancel
                </button>
              )}
            </td>
          </tr>
        )}
      />
      {played?.output?.url && (
        <Dialog title={played.prompt} onClose={() => setPlayed(undefined)}>
          <MediaShown name={played.prompt} url={played.output.url} mimeType={played.output.content_type} />
        </Dialog>
      )}
    </View>
  );
}

const CANCELLABLE: readonly string[] = ['pending', 'running'];

/** Whether there is anything new to be expected of it. */
function isLive({ state, output }: Generation): boolean {
  return [...CANCELLABLE, 'storing'].includes(state) || output?.availability === 'pending_scan';
}

function Progress({ of: { state, progress, error, output } }: { of: Generation }) {
  if (error !== null) return <>{`${state}: ${error.message}`}</>;
  if (state === 'succeeded' && output?.availability !== 'ready') {
    return <>{output?.availability === 'pending_scan' ? 'being checked' : 'not available'}</>;
  }
  return state === 'running' && progress !== null ? (
    <progress value={progress} aria-label={`${Math.round(progress * 100)} % done`} />
  ) : (
    <>{state}</>
  );
}

/** Asks again for as long as something is being made. */
function useLooksAgain({ data, reload }: Loaded<readonly Generation[]>): void {
  useEffect(() => {
    if (data?.some(isLive) !== true) return;
    const timer = setTimeout(reload, LOOK_AGAIN_MS);
    return () => clearTimeout(timer);
  }, [data]);
}

async function both<T>(load: (kind: Kind) => Promise<readonly T[]>): Promise<Of<T>[]> {
  const of = async (kind: Kind) => (await load(kind)).map((one) => ({ ...one, kind }));
  return (await Promise.all([of('video'), of('music')])).flat();
}

async function modelsOf(kind: Kind, signal: AbortSignal): Promise<readonly GenerationModel[]> {
  const path = `/api/v1/${kind}-models`;
  return (await call<{ models: readonly GenerationModel[] }>('GET', path, undefined, signal)).models;
}

async function jobsOf(kind: Kind, signal: AbortSignal): Promise<readonly Generation[]> {
  const path = `/api/v1/${kind}-generations?limit=50`;
  return (await call<CursorPage<Generation>>('GET', path, undefined, signal)).data;
}
