import { useState } from 'preact/hooks';
import { Dialog, DialogForm } from './dialog.tsx';
import { Field, getText } from './field.tsx';

interface Question {
  readonly title: string;
  readonly text?: string;
  /** The words on the button. */
  readonly action: string;
  readonly isDanger?: boolean;
  /** Asks for a text, with this one to begin with. */
  readonly input?: { readonly label: string; readonly value: string };
}

/** Asks for a confirmation or a text. @returns the text, empty without input; undefined when the user declines. */
export type Ask = (question: Question) => Promise<string | undefined>;

interface Asked {
  readonly question: Question;
  readonly answer: (text: string | undefined) => void;
}

/** The dialog of questions, and the function that opens it. */
export function useAsk() {
  const [asked, setAsked] = useState<Asked>();
  const [ask] = useState(
    (): Ask => (question) =>
      new Promise<string | undefined>((resolve) =>
        setAsked({
          question,
          answer: (text) => {
            setAsked(undefined);
            resolve(text);
          },
        }),
      ),
  );
  const dialog = asked && <QuestionDialog {...asked} />;
  return { ask, dialog };
}

function QuestionDialog({ question: { title, text, action, isDanger = false, input }, answer }: Asked) {
  return (
    <Dialog title={title} onClose={() => answer(undefined)}>
      <DialogForm
        submit={action}
        isDanger={isDanger}
        onCancel={() => answer(undefined)}
        busy={false}
        error={undefined}
        onSubmit={(form) => answer(input === undefined ? '' : getText(form, 'text'))}
      >
        {text !== undefined && <p>{text}</p>}
        {input !== undefined && (
          <Field label={input.label}>
            <input name="text" required maxLength={255} defaultValue={input.value} />
          </Field>
        )}
      </DialogForm>
    </Dialog>
  );
}
