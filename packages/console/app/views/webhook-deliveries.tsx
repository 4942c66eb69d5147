import { wholeDate } from '../parts/format.ts';
import { Table } from '../parts/table.tsx';
import { Badge } from '../parts/view.tsx';
import type { WebhookDelivery } from '../records.ts';

const FAILURES: Readonly<Record<string, string>> = {
  forbidden_address: 'address not public',
  redirect: 'redirected',
  timeout: 'no answer in time',
  connection: 'no connection',
};

interface DeliveriesProps {
  readonly rows: readonly WebhookDelivery[] | undefined;
  /** Absent: the webhook is disabled. */
  readonly onReplay: ((delivery: WebhookDelivery) => void) | undefined;
}

/** The deliveries of a webhook. */
export function WebhookDeliveries({ rows, onReplay }: DeliveriesProps) {
  return (
    <Table
      caption="Deliveries"
      rows={rows}
      getKey={({ id }) => id}
      empty={<p class="quiet">No deliveries.</p>}
      columns={[
        { head: 'Event', cell: ({ type, eventId }) => <span title={eventId}>{type}</span> },
        { head: 'Time', cell: ({ createdAt }) => wholeDate(createdAt) },
        { head: 'Status', cell: ({ status }) => <Badge state={status} /> },
        { head: 'Requests', isNumber: true, cell: ({ attempts }) => attempts },
        {
          head: 'Last answer',
          cell: ({ lastStatus, lastFailure }) =>
            lastFailure === null ? (lastStatus ?? '–') : FAILURES[lastFailure],
        },
        {
          head: 'Next request',
          cell: ({ nextAttemptAt }) => (nextAttemptAt === null ? '–' : wholeDate(nextAttemptAt)),
        },
        {
          head: 'Actions',
          isActions: true,
          cell: (delivery) =>
            onReplay !== undefined &&
            delivery.status !== 'pending' && (
              <button type="button" class="small" onClick={() => onReplay(delivery)}>
                Replay
              </button>
            ),
        },
      ]}
    />
  );
}
