import * as account from './account.ts';
import * as agentPublishing from './agent-publishing.ts';
import * as agents from './agents.ts';
import * as analytics from './analytics.ts';
import * as apiKeys from './api-keys.ts';
import * as applicationAgents from './application-agents.ts';
import * as artifacts from './artifacts.ts';
import * as audio from './audio.ts';
import * as audit from './audit.ts';
import * as budgets from './budgets.ts';
import type { WireCase } from './case.ts';
import * as chat from './chat.ts';
import * as completions from './completions.ts';
import * as creditGrants from './credit-grants.ts';
import * as dataLakes from './data-lakes.ts';
import * as deviceLogin from './device-login.ts';
import * as embeddings from './embeddings.ts';
import * as executions from './executions.ts';
import * as files from './files.ts';
import { GENERATION_CASES } from './generations.ts';
import * as health from './health.ts';
import * as images from './images.ts';
import * as infer from './infer.ts';
import * as mementos from './mementos.ts';
import * as messages from './messages.ts';
import * as models from './models.ts';
import * as objects from './objects.ts';
import * as olderPaths from './older-paths.ts';
import * as openapi from './openapi.ts';
import * as organizations from './organizations.ts';
import * as projects from './projects.ts';
import * as providerKeys from './provider-keys.ts';
import * as quests from './quests.ts';
import * as reports from './reports.ts';
import * as sessionAgents from './session-agents.ts';
import * as sessions from './sessions.ts';
import * as settings from './settings.ts';
import { SHARING } from './sharing.ts';
import * as signIn from './sign-in.ts';
import * as subscriptions from './subscriptions.ts';
import * as tools from './tools.ts';
import * as transcriptions from './transcriptions.ts';
import * as uiChat from './ui-chat.ts';
import * as users from './users.ts';
import * as webhooks from './webhooks.ts';

/** Expected answers of every operation, by `operationId`. An operation without an entry fails the suite. */
export const CASES: Readonly<Record<string, readonly WireCase[]>> = {
  ...account,
  ...analytics,
  ...agentPublishing,
  ...agents,
  ...apiKeys,
  ...applicationAgents,
  ...artifacts,
  sendChatMessage: [...chat.sendChatMessage, ...uiChat.withMessages],
  listUiMessages: uiChat.listUiMessages,
  resumeUiChat: uiChat.resumeUiChat,
  stopUiChat: uiChat.stopUiChat,
  ...completions,
  ...creditGrants,
  ...dataLakes,
  ...deviceLogin,
  ...embeddings,
  ...executions,
  ...files,
  ...health,
  ...GENERATION_CASES,
  ...images,
  ...audio,
  ...audit,
  ...transcriptions,
  ...messages,
  ...mementos,
  ...infer,
  ...models,
  ...objects,
  ...olderPaths,
  ...openapi,
  ...projects,
  ...organizations,
  ...providerKeys,
  ...quests,
  ...reports,
  ...sessionAgents,
  ...sessions,
  ...settings,
  ...SHARING,
  ...signIn,
  ...subscriptions,
  ...tools,
  ...users,
  ...webhooks,
  ...budgets,
};
