import { account } from '../features/account/index.ts';
import { agentRuns } from '../features/agent-runs/index.ts';
import { agents } from '../features/agents/index.ts';
import { analytics } from '../features/analytics/index.ts';
import { apiKeys } from '../features/api-keys/index.ts';
import { artifacts } from '../features/artifacts/index.ts';
import { audio } from '../features/audio/index.ts';
import { audit } from '../features/audit/index.ts';
import { budgets } from '../features/budgets/index.ts';
import { chat } from '../features/chat/index.ts';
import { completions } from '../features/completions/index.ts';
import { dataLakes } from '../features/data-lakes/index.ts';
import { deviceLogin } from '../features/device-login/index.ts';
import { embeddings } from '../features/embeddings/index.ts';
import type { Feature } from '../features/feature.ts';
import { files } from '../features/files/index.ts';
import { health } from '../features/health/index.ts';
import { images } from '../features/images/index.ts';
import { mediaJobs } from '../features/media-jobs/index.ts';
import { mementos } from '../features/mementos/index.ts';
import { models } from '../features/models/index.ts';
import { organizations } from '../features/organizations/index.ts';
import { projects } from '../features/projects/index.ts';
import { quests } from '../features/quests/index.ts';
import { sessionEnrichment } from '../features/session-enrichment/index.ts';
import { sessions } from '../features/sessions/index.ts';
import { settings } from '../features/settings/index.ts';
import { sharing } from '../features/sharing/index.ts';
import { signIn } from '../features/sign-in/index.ts';
import { storage } from '../features/storage/index.ts';
import { tools } from '../features/tools/index.ts';
import { webhooks } from '../features/webhooks/index.ts';
import { whatsNew } from '../features/whats-new/index.ts';
import type { BaseServices, Services } from './services.ts';

/**
 * All features. A new feature is one line here. The order defines the order of the API description, of the tools
 * offered to a model and of prompt parts with the same source.
 */
export const FEATURES: readonly Feature<BaseServices, Services>[] = [
  chat,
  completions,
  quests,
  tools,
  embeddings,
  agentRuns,
  models,
  sessions,
  files,
  images,
  mementos,
  agents,
  dataLakes,
  artifacts,
  projects,
  audio,
  mediaJobs,
  account,
  apiKeys,
  settings,
  organizations,
  analytics,
  sharing,
  signIn,
  deviceLogin,
  sessionEnrichment,
  health,
  storage,
  whatsNew,
  webhooks,
  audit,
  budgets,
];
