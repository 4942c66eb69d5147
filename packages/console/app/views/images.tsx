import { ImagePlus } from 'lucide';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Call, toMessage } from '../api.ts';
import { useApp } from '../context.ts';
import { useLoad } from '../hooks.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Field, getText } from '../parts/field.tsx';
import { Empty, ErrorMessage, View, Waiting } from '../parts/view.tsx';
import type { CursorPage, ListedModel, Quest, QuestFile, Session } from '../records.ts';
import { follow } from '../turn.ts';

/** The conversation that holds the images of this page. */
const SESSION = 'Images';
const SHOWN = 24;

interface Job {
  readonly prompt: string;
  readonly files: readonly QuestFile[];
  readonly failure?: string;
  readonly isRunning: boolean;
}

/** Generates images and shows the latest ones. */
export function Images() {
  const { call, client } = useApp();
  const models = useLoad('image-models', async (get) =>
    (await get<CursorPage<ListedModel>>('/api/v1/models?limit=100')).data.filter(
      ({ type }) => type === 'image',
    ),
  );
  const earlier = useLoad('images', (get) => getEarlier(get));
  const [jobs, setJobs] = useState<readonly Job[]>([]);
  const [opened, setOpened] = useState<QuestFile>();
  const leaving = useRef(new AbortController());
  useEffect(() => () => leaving.current.abort(), []);
  const isRunning = jobs.some((job) => job.isRunning);

  const generate = async (form: HTMLFormElement): Promise<void> => {
    const prompt = getText(form, 'prompt');
    const show = (change: Partial<Job>): void =>
      setJobs(([first, ...others]) => [{ ...(first as Job), ...change }, ...others]);
    setJobs((before) => [{ prompt, files: [], isRunning: true }, ...before]);
    try {
      const input = {
        prompt,
        model: getText(form, 'model'),
        sessionId: await findSession(call),
        ...(getText(form, 'count') !== '1' && { n: Number(getText(form, 'count')) }),
        ...(getText(form, 'quality') !== '' && { quality: getText(form, 'quality') }),
      };
      const { id } = await call<{ id: string }>('POST', '/api/v1/image-generations', input);
      const quest = await follow({ call, client }, id, () => undefined, leaving.current.signal);
      if (quest.type === 'error') show({ failure: quest.reply ?? 'No image was made.' });
      else show({ files: quest.files ?? [] });
    } catch (error) {
      if (!leaving.current.signal.aborted) show({ failure: toMessage(error) });
    } finally {
      if (!leaving.current.signal.aborted) show({ isRunning: false });
    }
  };

  return (
    <View title="Images" lead="Generate images from a description. They are also in your files.">
      <Waiting of={models} />
      {models.data?.length === 0 && (
        <Empty
          icon={ImagePlus}
          title="No image model is available."
          hint="A provider with image models needs a key."
        />
      )}
      {models.data !== undefined && models.data.length > 0 && (
        <form
          class="card"
          onSubmit={(event) => {
            event.preventDefault();
            void generate(event.currentTarget);
          }}
        >
          <Field label="Prompt">
            <textarea name="prompt" rows={2} required placeholder="A river at dawn, watercolor" />
          </Field>
          <div class="row">
            <Field label="Model">
              <select name="model">
                {models.data.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </select>
            </Field>
            <Field label="Quality">
              <select name="quality">
                <option value="">Default</option>
                <option value="low">Low</option>
                <option value="medium">Medium</option>
                <option value="high">High</option>
              </select>
            </Field>
            <Field label="Number">
              <select name="count">
                {[1, 2, 4].map((count) => (
                  <option key={count}>{count}</option>
                ))}
              </select>
            </Field>
            <button type="submit" class="primary" disabled={isRunning}>
              Generate
            </button>
          </div>
        </form>
      )}
      <ul class="gallery" aria-live="polite">
        {jobs.flatMap(({ prompt, files, failure, isRunning: isOpen }, at) => [
          ...(isOpen
            ? [
                <li key={`${jobs.length - at} running`} class="placeholder">
                  <span class="quiet">Generating “{prompt}”…</span>
                </li>,
              ]
            : []),
          ...(failure === undefined
            ? []
            : [
                <li key={`${jobs.length - at} failed`}>
                  <ErrorMessage text={failure} />
                </li>,
              ]),
          ...files.map((file) => <Thumbnail key={file.name} file={file} alt={prompt} onOpen={setOpened} />),
        ])}
        {earlier.data?.map((file) => (
          <Thumbnail key={file.name} file={file} alt={file.name} onOpen={setOpened} />
        ))}
      </ul>
      {earlier.data?.length === 0 &&
        jobs.length === 0 &&
        models.data !== undefined &&
        models.data.length > 0 && (
          <Empty icon={ImagePlus} title="No images yet." hint="Describe one above." />
        )}
      {opened !== undefined && (
        <Dialog title={opened.name} onClose={() => setOpened(undefined)} isWide>
          <img class="media" src={opened.url} alt={opened.name} />
          <a
            class="button"
            href={opened.url}
            download={opened.name}
            target="_blank"
            rel="noopener noreferrer"
          >
            Download
          </a>
        </Dialog>
      )}
    </View>
  );
}

interface ThumbnailProps {
  readonly file: QuestFile;
  readonly alt: string;
  readonly onOpen: (file: QuestFile) => void;
}

function Thumbnail({ file, alt, onOpen }: ThumbnailProps) {
  return (
    <li>
      <button type="button" class="thumbnail" onClick={() => onOpen(file)} aria-label={`Open ${alt}`}>
        <img src={file.url} alt="" loading="lazy" />
      </button>
    </li>
  );
}

/** Without a session of their own, images would go into the latest conversation. */
async function findSession(call: Call): Promise<string> {
  const { data } = await call<CursorPage<Session>>('GET', `/api/v1/sessions?limit=100&search=${SESSION}`);
  const found = data.find(({ name }) => name === SESSION);
  return (found ?? (await call<Session>('POST', '/api/v1/sessions', { name: SESSION }))).id;
}

/** The images of the latest answers in that conversation. */
async function getEarlier(get: <T>(path: string) => Promise<T>): Promise<readonly QuestFile[]> {
  const { data } = await get<CursorPage<Session>>(`/api/v1/sessions?limit=100&search=${SESSION}`);
  const session = data.find(({ name }) => name === SESSION);
  if (session === undefined) return [];
  const { messages } = await get<{ messages: readonly { questId: string | null }[] }>(
    `/api/sessions/${session.id}/messages?limit=${SHOWN * 2}`,
  );
  const ids = [...new Set(messages.map(({ questId }) => questId).filter((id) => id !== null))].slice(
    0,
    SHOWN,
  );
  const quests = await Promise.all(
    ids.map((id) => get<Quest>(`/api/v1/quests/${id}`).catch(() => undefined)),
  );
  return quests.flatMap((quest) => quest?.files ?? []).filter(({ isImage }) => isImage);
}
