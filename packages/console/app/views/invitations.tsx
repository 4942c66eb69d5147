import { Inbox } from 'lucide';
import { useAction, useLoad } from '../hooks.ts';
import { wholeDate } from '../parts/format.ts';
import { Empty, ErrorMessage, View, Waiting } from '../parts/view.tsx';
import type { ResourceInvite } from '../records.ts';

/** What others want to share with the user. */
export function Invitations() {
  const list = useLoad('invitations', (get) =>
    get<{ invites: readonly ResourceInvite[] }>('/api/invites?limit=100'),
  );
  const { busy, error, run } = useAction();
  const answer = async ({ _id }: ResourceInvite, how: 'accept' | 'refuse'): Promise<void> => {
    await run((call) => call('POST', `/api/invites/${_id}/${how}`, {}));
    list.reload();
  };
  return (
    <View title="Invitations" lead="What other users want to share with you.">
      <ErrorMessage text={error} />
      <Waiting of={list} />
      {list.data?.invites.length === 0 && <Empty icon={Inbox} title="No open invitations." />}
      <ul class="cards">
        {list.data?.invites.map((invite) => (
          <li key={invite._id} class="card">
            <h2>{invite.resource?.name ?? capitalize(invite.type)}</h2>
            <p class="quiet">
              {capitalize(invite.type)}, {invite.permission === 'write' ? 'to read and write' : 'to read'}
              {invite.sender != null && `, from ${invite.sender.name} (${invite.sender.email})`}
            </p>
            <p class="quiet small-text">{wholeDate(invite.createdAt)}</p>
            <div class="row-actions">
              <button
                type="button"
                class="primary small"
                disabled={busy}
                onClick={() => void answer(invite, 'accept')}
              >
                Accept
              </button>
              <button
                type="button"
                class="small"
                disabled={busy}
                onClick={() => void answer(invite, 'refuse')}
              >
                Decline
              </button>
            </div>
          </li>
        ))}
      </ul>
    </View>
  );
}

function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
