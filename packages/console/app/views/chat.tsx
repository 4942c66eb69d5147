import { useEffect, useRef, useState } from 'preact/hooks';
import { call, messageOf } from '../api.ts';
import { go, useLoad } from '../hooks.ts';
import { Waiting } from '../parts/basics.tsx';
import { Composer, type Draft } from '../parts/composer.tsx';
import { Said } from '../parts/said.tsx';
import { SessionList } from '../parts/session-list.tsx';
import type { Message, Quest } from '../records.ts';
import { ask, follow } from '../turn.ts';

const SHOWN = 100;

/** A turn on its way, or one whose end is not part of the session yet. */
interface Turn {
  readonly message: string;
  readonly quest: Quest | undefined;
  readonly fault?: string;
}

export function Chat({ id }: { id: string | undefined }) {
  const [changes, setChanges] = useState(0);
  return (
    <div class="chat">
      <SessionList current={id} changes={changes} />
      <Conversation key={id ?? 'new'} id={id} onChange={() => setChanges((before) => before + 1)} />
    </div>
  );
}

function Conversation({ id, onChange }: { id: string | undefined; onChange: () => void }) {
  const said = useLoad(`said ${id}`, async (signal) => {
    if (id === undefined) return [];
    const path = `/api/sessions/${id}/messages?limit=${SHOWN}`;
    const { messages } = await call<{ messages: readonly Message[] }>('GET', path, undefined, signal);
    return [...messages].reverse();
  });
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const [running, setRunning] = useState<string>();
  const end = useRef<HTMLDivElement>(null);
  const leaving = useRef(new AbortController());
  useEffect(() => () => leaving.current.abort(), []);
  useEffect(() => end.current?.scrollIntoView({ block: 'end' }), [said.data, turns]);

  const showLast = (change: Partial<Turn>): void =>
    setTurns((before) => [...before.slice(0, -1), { ...(before.at(-1) as Turn), ...change }]);

  const send = async (draft: Draft): Promise<boolean> => {
    setTurns((before) => [...before, { message: draft.message, quest: undefined }]);
    try {
      const accepted = await ask({ ...draft, sessionId: id });
      setRunning(accepted.id);
      void follow(accepted.id, (quest) => showLast({ quest }), leaving.current.signal)
        .catch((error: unknown) => showLast({ fault: messageOf(error) }))
        .finally(() => {
          setRunning(undefined);
          onChange();
          if (id === undefined && !leaving.current.signal.aborted) go('chat', accepted.sessionId);
        });
      return true;
    } catch (error) {
      setTurns((before) => before.slice(0, -1));
      showFault(error);
      return false;
    }
  };
  const [fault, setFault] = useState<string>();
  const showFault = (error: unknown): void => setFault(messageOf(error));
  const stop = (): void => {
    if (running !== undefined) void call('POST', `/api/v1/quests/${running}/cancel`, {}).catch(showFault);
  };

  return (
    <section class="conversation" aria-label="Conversation">
      <div class="said-list">
        <Waiting of={said} />
        {said.data?.length === 0 && turns.length === 0 && (
          <div class="welcome">
            <h1>What shall we look at?</h1>
            <p class="quiet">Ask below. With tools, answers can look things up, draw and calculate.</p>
          </div>
        )}
        <ol aria-live="polite">
          {said.data?.map(({ id: key, role, content, questId }) =>
            role === 'assistant' && questId !== null ? (
              <Recalled key={key} text={content} questId={questId} />
            ) : (
              <Said key={key} by={role} text={content} />
            ),
          )}
          {turns.map((turn, at) => (
            <TurnShown key={`${at} ${turn.message}`} turn={turn} />
          ))}
        </ol>
        <div ref={end} />
      </div>
      {fault !== undefined && (
        <p class="fault" role="alert">
          {fault}
        </p>
      )}
      <Composer
        busy={running !== undefined}
        onSend={(draft) => {
          setFault(undefined);
          return send(draft);
        }}
        onStop={stop}
      />
    </section>
  );
}

/** An answer of before, with what its turn made to be shown: the session keeps the words alone. */
function Recalled({ text, questId }: { text: string; questId: string }) {
  const { data } = useLoad(`quest ${questId}`, (signal) =>
    call<Quest>('GET', `/api/v1/quests/${questId}`, undefined, signal),
  );
  return <Said by="assistant" text={text} payloads={data?.toolPayloads ?? []} files={data?.files ?? []} />;
}

function TurnShown({ turn: { message, quest, fault } }: { turn: Turn }) {
  const isOver = quest?.status === 'done' || quest?.status === 'stopped';
  const isFault = fault !== undefined || quest?.type === 'error';
  return (
    <>
      <Said by="user" text={message} />
      <Said
        by="assistant"
        text={fault ?? quest?.reply ?? ''}
        payloads={quest?.toolPayloads ?? []}
        files={quest?.files ?? []}
        isFault={isFault}
        isGrowing={!isOver && fault === undefined}
      />
    </>
  );
}
