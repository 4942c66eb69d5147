import { Fragment } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Call, toMessage } from '../api.ts';
import { useApp } from '../context.ts';
import { useLoad } from '../hooks.ts';
import { type AttachedFile, type Choices, Composer } from '../parts/composer.tsx';
import { ConversationHead } from '../parts/conversation-head.tsx';
import { Answer, EarlierAnswer, isGrowing, UserMessage } from '../parts/message.tsx';
import { Thread } from '../parts/thread.tsx';
import { ErrorMessage, Waiting } from '../parts/view.tsx';
import type { Agent, CursorPage, Message, Model, Quest, Session } from '../records.ts';
import { type Draft, follow, send, withMentions } from '../turn.ts';

const SHOWN = 100;
const NO_CHOICES: Choices = { model: '', withTools: false, agents: [] };

/** A turn that is running, or one whose result is not part of the loaded history. */
interface Turn {
  readonly draft: Draft;
  readonly files: readonly AttachedFile[];
  readonly quest: Quest | undefined;
  readonly failure?: string;
}

interface Past {
  readonly session: Session | undefined;
  readonly messages: readonly Message[];
  readonly agents: readonly Agent[];
}

interface ConversationProps {
  readonly id: string | undefined;
  readonly isShown: boolean;
  readonly onBegun: (id: string) => void;
  readonly onBusy: (isBusy: boolean) => void;
}

export function Conversation({ id, isShown, onBegun, onBusy }: ConversationProps) {
  const { call, client, drafts } = useApp();
  // What happens from here on is in `turns`: the history is loaded once, for the id at the beginning.
  const [first] = useState(id);
  const past = usePast(first);
  const models = useModels();
  const [choices, setChoices] = useState<Choices>();
  const [text, setText] = useState(() => drafts.get(first ?? '') ?? '');
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const [running, setRunning] = useState<string>();
  const [failure, setFailure] = useState<string>();
  const isBusy = turns.some((turn) => turn.failure === undefined && isGrowing(turn.quest));
  const leaving = useRef(new AbortController());
  useEffect(() => () => leaving.current.abort(), []);
  const chosen = choices ?? getChoices(past.data);

  const write = (next: string): void => {
    setText(next);
    drafts.set(id ?? '', next);
  };
  const showLast = (change: Partial<Turn>): void =>
    setTurns((before) => [...before.slice(0, -1), { ...(before.at(-1) as Turn), ...change }]);

  const ask = async (wanted: Draft, files: readonly AttachedFile[]): Promise<void> => {
    const draft = { ...wanted, message: withMentions(wanted.message, wanted.agents) };
    setFailure(undefined);
    // The choices of a turn stay those of the conversation.
    setChoices({ model: draft.model, withTools: draft.withTools, agents: draft.agents });
    setTurns((before) => [...before, { draft, files, quest: undefined }]);
    onBusy(true);
    try {
      const accepted = await send(call, draft, id);
      setRunning(accepted.id);
      if (id === undefined) {
        drafts.delete('');
        onBegun(accepted.sessionId);
      }
      await follow({ call, client }, accepted.id, (quest) => showLast({ quest }), leaving.current.signal);
    } catch (error) {
      if (!leaving.current.signal.aborted) showLast({ failure: toMessage(error) });
    } finally {
      setRunning(undefined);
      onBusy(false);
    }
  };
  const fail = (error: unknown): void => setFailure(toMessage(error));
  const choose = (next: Choices): void => {
    setChoices(next);
    if (id !== undefined) attachAgents(call, id, chosen.agents, next.agents).catch(fail);
  };
  const stop = (): void => {
    if (running === undefined) return;
    call('POST', `/api/v1/quests/${running}/cancel`, {}).catch(fail);
  };
  const retry = (message: string, fileIds: readonly string[], files: readonly AttachedFile[]) =>
    isBusy ? undefined : () => void ask({ ...chosen, message, fileIds }, files);

  const messages = past.data?.messages ?? [];
  return (
    <section class="chat" aria-label="Conversation" hidden={!isShown}>
      <ConversationHead session={past.data?.session} id={id} firstMessage={turns[0]?.draft.message} />
      <Thread
        isEmpty={past.data !== undefined && messages.length === 0 && turns.length === 0}
        watched={[past.data, turns, isShown]}
        onSuggestion={write}
      >
        <Waiting of={past} />
        <ol class="messages" aria-live="polite">
          {messages.map(({ id: key, role, content, questId }, at) =>
            role === 'user' ? (
              <UserMessage key={key} text={content} />
            ) : (
              <EarlierAnswer
                key={key}
                text={content}
                questId={questId}
                modelName={models.getName}
                onRetry={retry(messages[at - 1]?.content ?? '', [], [])}
              />
            ),
          )}
          {turns.map(({ draft, files, quest, failure: problem }, at) => (
            <Fragment key={at}>
              <UserMessage text={draft.message} files={files.map(({ name }) => name)} />
              <Answer
                text={quest?.reply ?? ''}
                quest={quest}
                modelName={models.getName}
                failure={problem}
                isGrowing={problem === undefined && isGrowing(quest)}
                onRetry={retry(draft.message, draft.fileIds, files)}
              />
            </Fragment>
          ))}
        </ol>
      </Thread>
      <div class="composer-place">
        <ErrorMessage text={failure} />
        <Composer
          busy={isBusy}
          models={models.chat}
          choices={chosen}
          text={text}
          isShown={isShown}
          onText={write}
          onChoices={choose}
          onSend={(draft, files) => void ask(draft, files)}
          onStop={stop}
        />
        <p class="fine-print">Models make mistakes. Check what matters.</p>
      </div>
    </section>
  );
}

/** Loads a conversation that exists already. */
function usePast(id: string | undefined) {
  return useLoad<Past>(`past ${id}`, async (get) => {
    if (id === undefined) return { session: undefined, messages: [], agents: [] };
    const [session, page] = await Promise.all([
      get<Session>(`/api/sessions/${id}`),
      get<{ messages: readonly Message[] }>(`/api/sessions/${id}/messages?limit=${SHOWN}`),
    ]);
    const known =
      session.agentIds.length === 0 ? [] : (await get<CursorPage<Agent>>('/api/v1/agents?limit=100')).data;
    const agents = known.filter((agent) => session.agentIds.includes(agent.id));
    return { session, messages: [...page.messages].reverse(), agents };
  });
}

/** A conversation goes on with its model and its agents. */
function getChoices(past: Past | undefined): Choices {
  if (past === undefined) return NO_CHOICES;
  return { ...NO_CHOICES, model: past.session?.lastUsedModel ?? '', agents: past.agents };
}

/** The session keeps its agents for the next visit. */
async function attachAgents(
  call: Call,
  id: string,
  before: readonly Agent[],
  after: readonly Agent[],
): Promise<void> {
  const path = `/api/sessions/${id}/agents`;
  for (const agent of after.filter((one) => !before.includes(one))) {
    await call('POST', path, { agentId: agent.id });
  }
  for (const agent of before.filter((one) => !after.includes(one))) {
    await call('DELETE', `${path}?agentId=${agent.id}`);
  }
}

function useModels() {
  const { data } = useLoad('models', (get) => get<{ models: readonly Model[] }>('/api/models'));
  return useMemo(() => {
    const models = data?.models ?? [];
    const names = new Map(models.map(({ id, name }) => [id, name]));
    return {
      chat: models.filter(({ type }) => type === 'text'),
      getName: (id: string): string => names.get(id) ?? id,
    };
  }, [data]);
}
