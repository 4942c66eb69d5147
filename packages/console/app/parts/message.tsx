import { CircleAlert, RotateCw, Sparkles } from 'lucide';
import type { Ref } from 'preact';
import { useMemo } from 'preact/hooks';
import { Payload } from '../drawings/payload.tsx';
import { useLoad, useSeen } from '../hooks.ts';
import type { Quest, QuestFile } from '../records.ts';
import { isOver } from '../turn.ts';
import { Approvals } from './approvals.tsx';
import { CopyButton } from './copy.tsx';
import { credits } from './format.ts';
import { getHelp } from './help.ts';
import { Icon } from './icon.tsx';
import { Markdown } from './markdown.tsx';
import { MediaShown } from './media.tsx';

/** A message of the user, as typed. */
export function UserMessage({ text, files = [] }: { text: string; files?: readonly string[] }) {
  return (
    <li class="message user">
      <h2 class="hidden">You</h2>
      {files.length > 0 && <p class="quiet small-text">{files.join(', ')}</p>}
      <p class="bubble">{text}</p>
    </li>
  );
}

interface AnswerProps {
  readonly text: string;
  /** Undefined: unknown, or not accepted yet. */
  readonly quest: Quest | undefined;
  readonly modelName: (id: string) => string;
  /** The request failed before there was an answer. */
  readonly failure?: string | undefined;
  readonly isGrowing?: boolean;
  /** Undefined: cannot be sent again now. */
  readonly onRetry?: (() => void) | undefined;
  readonly seen?: Ref<HTMLLIElement>;
}

/** An answer: its text, what tools have made, the model, and what can be done with it. */
export function Answer({ text, quest, modelName, failure, isGrowing = false, onRetry, seen }: AnswerProps) {
  const isFailed = failure !== undefined || quest?.type === 'error';
  const reason = failure ?? text;
  const help = isFailed ? getHelp(reason, quest?.errorCode) : undefined;
  const model = quest?.promptMeta?.model;
  return (
    <li ref={seen ?? null} class="message assistant" aria-busy={isGrowing}>
      <span class="avatar model" aria-hidden="true">
        <Icon of={Sparkles} size={16} />
      </span>
      <div class="answer">
        <h2 class="who">{model === undefined ? 'Assistant' : modelName(model)}</h2>
        {isFailed ? (
          <div class="error" role="alert">
            <Icon of={CircleAlert} />
            <div>
              <p>{reason}</p>
              {help !== undefined && (
                <p>
                  {help.text} {help.link !== undefined && <a href={help.link.href}>{help.link.title}</a>}
                </p>
              )}
            </div>
          </div>
        ) : (
          <Markdown text={text} />
        )}
        {quest?.toolPayloads.map((payload, at) => (
          <Payload key={`${at} ${payload.type}`} payload={payload} />
        ))}
        {quest?.files?.map((file) => (
          <Made key={file.name} file={file} />
        ))}
        {quest?.pendingApprovals !== undefined && (
          <Approvals questId={quest.id} calls={quest.pendingApprovals} />
        )}
        {isGrowing ? (
          <p class="growing" role="status">
            <span class="hidden">Answering</span>
          </p>
        ) : (
          <Actions text={text} quest={quest} isFailed={isFailed} onRetry={onRetry} />
        )}
      </div>
    </li>
  );
}

interface ActionsProps {
  readonly text: string;
  readonly quest: Quest | undefined;
  readonly isFailed: boolean;
  readonly onRetry: (() => void) | undefined;
}

function Actions({ text, quest, isFailed, onRetry }: ActionsProps) {
  const notes = useMemo(() => getNotes(quest), [quest]);
  return (
    <div class="answer-actions">
      {!isFailed && text !== '' && <CopyButton text={text} name="Copy answer" />}
      {onRetry !== undefined && (
        <button
          type="button"
          class="ghost icon-only small"
          aria-label="Retry"
          title="Retry"
          onClick={onRetry}
        >
          <Icon of={RotateCw} size={16} />
        </button>
      )}
      {notes.length > 0 && <span class="quiet small-text">{notes.join(' · ')}</span>}
    </div>
  );
}

function getNotes(quest: Quest | undefined): string[] {
  if (quest === undefined) return [];
  const { status, stopReason, promptMeta, fallbackInfo } = quest;
  const tokens = Object.values(promptMeta?.usage ?? {}).reduce((sum, count) => sum + count, 0);
  return [
    ...(status === 'stopped' ? ['Stopped'] : []),
    ...(stopReason === 'max_tokens' ? ['Cut at the output limit'] : []),
    ...(fallbackInfo === undefined ? [] : [`Instead of ${fallbackInfo.primaryModelName}`]),
    ...(tokens > 0 ? [`${tokens.toLocaleString()} tokens`] : []),
    ...(promptMeta?.credits ? [`${credits(promptMeta.credits)} credits`] : []),
  ];
}

interface EarlierProps {
  readonly text: string;
  readonly questId: string;
  readonly modelName: (id: string) => string;
  readonly onRetry?: (() => void) | undefined;
}

/** An answer from the history. The session stores only the text; the rest is loaded when it comes into view. */
export function EarlierAnswer({ questId, ...shown }: EarlierProps) {
  const { ref, isSeen } = useSeen<HTMLLIElement>();
  const { data } = useLoad(`quest ${questId} ${isSeen}`, async (get) =>
    isSeen ? get<Quest>(`/api/v1/quests/${questId}`) : undefined,
  );
  return <Answer {...shown} quest={data} seen={ref} />;
}

/** Whether a quest still grows. */
export function isGrowing(quest: Quest | undefined): boolean {
  return quest === undefined || !isOver(quest);
}

/** A file that the turn has created, with a player or preview where possible. */
function Made({ file: { name, url, isImage, isAudio, isVideo } }: { file: QuestFile }) {
  const kind = isImage ? 'image' : isAudio ? 'audio' : isVideo ? 'video' : undefined;
  return (
    <p class="made">
      {kind !== undefined && <MediaShown name={name} url={url} mimeType={`${kind}/*`} />}
      <a href={url} download={name} target="_blank" rel="noopener noreferrer">
        {name}
      </a>
    </p>
  );
}
