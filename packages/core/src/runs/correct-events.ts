import type { Incident } from '../shared/incident.ts';
import { createLiveWriter, type LiveWriterServices } from './live-writer.ts';
import type { QuestTask } from './quest-task.ts';
import type { QuestRecord } from './records.ts';
import type { Holder } from './states.ts';

/** The crashed worker may have sent readers more than it saved: what it saved is the result. */
export async function correctEvents(
  services: LiveWriterServices & { readonly onError: (incident: Incident) => void },
  { kind, isLive = false }: Pick<QuestTask, 'kind' | 'isLive'>,
  { id, text = '' }: QuestRecord,
  { fence }: Holder,
): Promise<void> {
  if (isLive === false) return;
  const live = createLiveWriter(services, {
    stream: id,
    fence,
    getText: () => text,
    isHeld: async () => true,
    onError: (error) => services.onError({ operation: `job:${kind}`, requestId: '', error }),
  });
  live.emit({ type: 'reset-step', text });
  await live.flush();
  await live.close();
}
