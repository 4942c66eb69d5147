import { Copy, Ellipsis, LogOut, PencilLine, Share2, Trash2 } from 'lucide';
import { useState } from 'preact/hooks';
import { useApp } from '../context.ts';
import { go, useSerialAction } from '../hooks.ts';
import type { Session } from '../records.ts';
import { SESSIONS_CHANGED } from './conversations.tsx';
import { Icon } from './icon.tsx';
import { useLeave } from './leave.ts';
import { Menu } from './menu.tsx';
import { ShareDialog } from './share-dialog.tsx';
import { Badge, ErrorMessage } from './view.tsx';

interface HeadProps {
  /** Undefined: begun at this visit. */
  readonly session: Session | undefined;
  readonly id: string | undefined;
  readonly firstMessage: string | undefined;
}

/** The name of a conversation, and what can be done with the whole of it. */
export function ConversationHead({ session, id, firstMessage }: HeadProps) {
  const { ask, user } = useApp();
  const { error, runInTurn } = useSerialAction();
  const [renamed, setRenamed] = useState<string>();
  const [isSharing, setSharing] = useState(false);
  const name = renamed ?? session?.name ?? firstMessage?.slice(0, 60);
  const leaving = useLeave();
  const isOwner = session === undefined || session.userId === user?._id;
  const changed = (): void => void dispatchEvent(new Event(SESSIONS_CHANGED));

  const rename = async (): Promise<void> => {
    const wanted = await ask({
      title: 'Rename the conversation',
      action: 'Save',
      input: { label: 'Name', value: name ?? '' },
    });
    if (!wanted) return;
    if (await runInTurn((call) => call('PUT', `/api/sessions/${id}`, { name: wanted }))) setRenamed(wanted);
    changed();
  };
  const duplicate = async (): Promise<void> => {
    await runInTurn(async (call) => {
      const copy = await call<Session>('POST', `/api/v1/sessions/${id}/clone`, {});
      changed();
      go('chat', copy.id);
    });
  };
  const remove = async (): Promise<void> => {
    const text = `“${name}” and all its messages are deleted. This cannot be undone.`;
    const isSure = await ask({ title: 'Delete the conversation?', text, action: 'Delete', isDanger: true });
    if (isSure === undefined) return;
    if (await runInTurn((call) => call('DELETE', `/api/sessions/${id}`))) go('chat');
    changed();
  };
  const leave = async (): Promise<void> => {
    if (id !== undefined && (await leaving.leave({ type: 'session', id, name: name ?? '' }))) go('shared');
  };
  const options = [
    { icon: PencilLine, title: 'Rename', work: rename },
    ...(isOwner ? [{ icon: Share2, title: 'Share', work: async () => setSharing(true) }] : []),
    { icon: Copy, title: 'Duplicate', work: duplicate },
    isOwner ? { icon: Trash2, title: 'Delete', work: remove } : { icon: LogOut, title: 'Leave', work: leave },
  ];

  return (
    <header class="chat-head">
      {name !== undefined && <h1>{name}</h1>}
      {!isOwner && <Badge state="shared" />}
      {id !== undefined && name !== undefined && (
        <Menu
          label="Conversation options"
          button={<Icon of={Ellipsis} />}
          buttonClass="ghost icon-only"
          isEnd
        >
          {(close) => (
            <>
              {options.map(({ icon, title, work }) => (
                <button
                  key={title}
                  type="button"
                  class="menu-item"
                  onClick={() => {
                    close();
                    void work();
                  }}
                >
                  <Icon of={icon} size={16} />
                  <span>{title}</span>
                </button>
              ))}
            </>
          )}
        </Menu>
      )}
      <ErrorMessage text={error ?? leaving.error} />
      {isSharing && id !== undefined && name !== undefined && (
        <ShareDialog type="session" id={id} name={name} onClose={() => setSharing(false)} />
      )}
    </header>
  );
}
