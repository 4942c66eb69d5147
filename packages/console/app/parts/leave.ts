import { useApp } from '../context.ts';
import { useAction } from '../hooks.ts';
import type { ShareableType } from './share-dialog.tsx';

interface Shared {
  readonly type: ShareableType;
  readonly id: string;
  readonly name: string;
}

/** Ends the user's own share, after a question. */
export function useLeave() {
  const { ask } = useApp();
  const { busy, error, run } = useAction();
  /** @returns whether the share has ended. */
  const leave = async ({ type, id, name }: Shared): Promise<boolean> => {
    const title = `Leave “${name}”?`;
    const text = 'You lose access to it. Its owner can share it with you again.';
    if ((await ask({ title, text, action: 'Leave', isDanger: true })) === undefined) return false;
    return run((call) => call('POST', `/api/${type}/${id}/leave`, {}));
  };
  return { busy, error, leave };
}
