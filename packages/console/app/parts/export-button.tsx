import { useApp } from '../context.ts';
import { useAction } from '../hooks.ts';
import { ErrorMessage } from './view.tsx';

interface ExportProps {
  readonly label: string;
  /** An address of the API that answers with a file. */
  readonly path: string;
  /** The name of the saved file. */
  readonly name: string;
}

/** A button that saves an export of the API. A link could not send the session. */
export function ExportButton({ label, path, name }: ExportProps) {
  const { root, session } = useApp();
  const { busy, error, run } = useAction();
  const save = () =>
    run(async () => {
      const token = await session.getToken();
      const answer = await fetch(`${root}${path}`, {
        headers: { ...(token !== null && { Authorization: `Bearer ${token}` }) },
      });
      if (!answer.ok) throw new Error(`The export failed with status ${answer.status}.`);
      const address = URL.createObjectURL(await answer.blob());
      const link = document.createElement('a');
      link.href = address;
      link.download = name;
      link.click();
      URL.revokeObjectURL(address);
    });
  return (
    <div class="actions">
      <button type="button" disabled={busy} onClick={() => void save()}>
        {label}
      </button>
      <ErrorMessage text={error} />
    </div>
  );
}
