import { ArrowUp, Paperclip, Square, Wrench, X } from 'lucide';
import { useEffect, useRef, useState } from 'preact/hooks';
import { toMessage } from '../api.ts';
import { useApp } from '../context.ts';
import { useMedia } from '../hooks.ts';
import type { Agent, Model } from '../records.ts';
import type { Draft } from '../turn.ts';
import { upload } from '../upload.ts';
import { AgentPicker } from './agent-picker.tsx';
import { Icon } from './icon.tsx';
import { ModelSelect } from './model-select.tsx';
import { ErrorMessage } from './view.tsx';

/** The choices that hold for a whole conversation. */
export interface Choices {
  readonly model: string;
  readonly withTools: boolean;
  readonly agents: readonly Agent[];
}

export interface AttachedFile {
  readonly id: string;
  readonly name: string;
}

interface ComposerProps {
  readonly busy: boolean;
  readonly models: readonly Model[];
  readonly choices: Choices;
  /** Unsent text from before. */
  readonly text: string;
  readonly isShown: boolean;
  readonly onText: (text: string) => void;
  readonly onChoices: (choices: Choices) => void;
  readonly onSend: (draft: Draft, files: readonly AttachedFile[]) => void;
  readonly onStop: () => void;
}

/** The message input. Enter sends, Shift+Enter breaks the line. Text can be typed while an answer arrives. */
export function Composer({
  busy,
  models,
  choices,
  text,
  isShown,
  onText,
  onChoices,
  onSend,
  onStop,
}: ComposerProps) {
  const [attached, setAttached] = useState<readonly AttachedFile[]>([]);
  const { uploading, failure, attach } = useUploads((file) => setAttached((before) => [...before, file]));
  const [isOver, setOver] = useState(false);
  const picker = useRef<HTMLInputElement>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  // A phone would cover half of the page with its keyboard.
  const hasKeyboard = useMedia('(hover: hover) and (pointer: fine)');
  useEffect(() => {
    if (isShown && hasKeyboard) area.current?.focus();
  }, [isShown, hasKeyboard]);

  const send = (): void => {
    const message = text.trim();
    if (message === '' || busy || uploading > 0) return;
    onSend({ message, ...choices, fileIds: attached.map(({ id }) => id) }, attached);
    onText('');
    setAttached([]);
    area.current?.focus();
  };

  return (
    <form
      class={`composer${isOver ? ' over' : ''}`}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        void attach([...(event.dataTransfer?.files ?? [])]);
      }}
    >
      <ErrorMessage text={failure} />
      {(attached.length > 0 || uploading > 0) && (
        <ul class="attached" aria-label="Attached files">
          {attached.map(({ id, name }) => (
            <li key={id}>
              {name}
              <button
                type="button"
                class="ghost icon-only small"
                aria-label={`Remove ${name}`}
                onClick={() => setAttached(attached.filter((one) => one.id !== id))}
              >
                <Icon of={X} size={14} />
              </button>
            </li>
          ))}
          {uploading > 0 && <li role="status">Uploading…</li>}
        </ul>
      )}
      <label class="hidden" for="message">
        Message
      </label>
      <textarea
        // The skip link leads here.
        id={isShown ? 'message' : undefined}
        ref={area}
        rows={1}
        value={text}
        placeholder="Ask anything"
        onInput={(event) => onText(event.currentTarget.value)}
        onPaste={(event) => {
          const files = [...(event.clipboardData?.files ?? [])];
          if (files.length === 0) return;
          event.preventDefault();
          void attach(files);
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      <div class="composer-row">
        <input
          ref={picker}
          type="file"
          multiple
          class="hidden"
          aria-label="Attach files"
          tabIndex={-1}
          onChange={(event) => {
            void attach([...(event.currentTarget.files ?? [])]);
            event.currentTarget.value = '';
          }}
        />
        <button
          type="button"
          class="ghost icon-only"
          aria-label="Attach"
          title="Attach files"
          onClick={() => picker.current?.click()}
        >
          <Icon of={Paperclip} />
        </button>
        <label
          class={`ghost chip${choices.withTools ? ' on' : ''}`}
          title="Search, diagrams, charts, calculations"
        >
          <input
            type="checkbox"
            checked={choices.withTools}
            onChange={(event) => onChoices({ ...choices, withTools: event.currentTarget.checked })}
          />
          <Icon of={Wrench} size={16} />
          <span class="chip-text">Tools</span>
        </label>
        <AgentPicker chosen={choices.agents} onChange={(agents) => onChoices({ ...choices, agents })} />
        <span class="spring" />
        <ModelSelect
          models={models}
          value={choices.model}
          onChange={(model) => onChoices({ ...choices, model })}
        />
        {busy ? (
          <button type="button" class="primary round" aria-label="Stop" title="Stop" onClick={onStop}>
            <Icon of={Square} size={16} />
          </button>
        ) : (
          <button
            type="submit"
            class="primary round"
            aria-label="Send"
            title="Send"
            disabled={text.trim() === '' || uploading > 0}
          >
            <Icon of={ArrowUp} />
          </button>
        )}
      </div>
    </form>
  );
}

function useUploads(onDone: (file: AttachedFile) => void) {
  const { call } = useApp();
  const [uploading, setUploading] = useState(0);
  const [failure, setFailure] = useState<string>();
  const attach = async (files: readonly File[]): Promise<void> => {
    setFailure(undefined);
    for (const file of files) {
      setUploading((count) => count + 1);
      try {
        onDone({ id: await upload(call, file), name: file.name });
      } catch (error) {
        setFailure(toMessage(error));
      } finally {
        setUploading((count) => count - 1);
      }
    }
  };
  return { uploading, failure, attach };
}
