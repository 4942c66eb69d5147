import type { ServicesFor } from '../../../operations/feature-parts.ts';
import { createQuestEventSource } from '../../../runs/event-source.ts';
import type { RunningQuests } from '../../../runs/running.ts';
import { CONVERSATION_ENTRIES, CONVERSATIONS } from '../conversations/records.ts';
import { removeConversation } from '../conversations/write.ts';
import { responsesInUse } from './in-use.ts';
import { createResponseJob } from './job.ts';
import { RESPONSE, RESPONSES } from './records.ts';
import { responseRetention } from './removal.ts';

export const storedResponses = {
  collections: [RESPONSES, CONVERSATIONS, CONVERSATION_ENTRIES],
  deletion: { conversation: removeConversation },
  eventSources: [createQuestEventSource('quest', [RESPONSE])],
  jobs: (services: ServicesFor<typeof createResponseJob>, running: RunningQuests) => [
    createResponseJob(services, running),
  ],
  inUse: responsesInUse,
  retention: (services: ServicesFor<typeof responseRetention>) => responseRetention(services),
};
