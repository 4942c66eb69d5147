import { useRef, useState } from 'preact/hooks';
import { call, messageOf } from '../api.ts';
import { useLoad } from '../hooks.ts';
import type { Model } from '../records.ts';
import { upload } from '../upload.ts';

export interface Draft {
  readonly message: string;
  readonly model: string;
  readonly fileIds: readonly string[];
  readonly withTools: boolean;
}

interface ComposerProps {
  readonly busy: boolean;
  /** @returns whether it was taken; the text stays otherwise. */
  readonly onSend: (draft: Draft) => Promise<boolean>;
  readonly onStop: () => void;
}

interface Attached {
  readonly id: string;
  readonly name: string;
}

/** Where a message is written. Enter sends, with Shift it breaks the line. */
export function Composer({ busy, onSend, onStop }: ComposerProps) {
  const [text, setText] = useState('');
  const [model, setModel] = useState('');
  const [withTools, setWithTools] = useState(false);
  const [attached, setAttached] = useState<readonly Attached[]>([]);
  const [fault, setFault] = useState<string>();
  const picker = useRef<HTMLInputElement>(null);
  const models = useLoad('models', (signal) =>
    call<{ models: readonly Model[] }>('GET', '/api/models', undefined, signal),
  );

  const send = async (): Promise<void> => {
    const message = text.trim();
    if (message === '' || busy) return;
    if (await onSend({ message, model, withTools, fileIds: attached.map(({ id }) => id) })) {
      setText('');
      setAttached([]);
    }
  };
  const attach = async (files: readonly File[]): Promise<void> => {
    setFault(undefined);
    try {
      for (const file of files) {
        const id = await upload(file);
        setAttached((before) => [...before, { id, name: file.name }]);
      }
    } catch (error) {
      setFault(messageOf(error));
    }
  };

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <label class="hidden" for="message">
        Message
      </label>
      <textarea
        id="message"
        rows={3}
        value={text}
        placeholder="Ask something"
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          void send();
        }}
      />
      {attached.length > 0 && <p class="quiet">Attached: {attached.map(({ name }) => name).join(', ')}</p>}
      {fault !== undefined && (
        <p class="fault" role="alert">
          {fault}
        </p>
      )}
      <div class="row">
        <select aria-label="Model" value={model} onChange={(event) => setModel(event.currentTarget.value)}>
          <option value="">Default model</option>
          {models.data?.models
            .filter(({ type }) => type === 'text')
            .map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
        </select>
        <label class="check">
          <input
            type="checkbox"
            checked={withTools}
            onChange={(event) => setWithTools(event.currentTarget.checked)}
          />
          Tools
        </label>
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
        <button type="button" onClick={() => picker.current?.click()}>
          Attach
        </button>
        {busy ? (
          <button type="button" class="main" onClick={onStop}>
            Stop
          </button>
        ) : (
          <button type="submit" class="main">
            Send
          </button>
        )}
      </div>
    </form>
  );
}
