import type { Side } from './document.ts';

export const TITLES: Readonly<Record<Side, string>> = {
  public: 'Questline API',
  application: 'Questline application API',
};

export const INTRODUCTIONS: Readonly<Record<Side, string>> = {
  public:
    'A multi-model AI workspace: chat, completions, agents, files, images, audio, video and music, with API keys, scopes, ' +
    'rate limits and credits. Branch on the status and `errorCode`, never on messages. Every response has ' +
    '`X-Request-ID`. Keys need one of `x-required-scopes`, and every one of `x-also-required-scopes`.',
  application:
    'The operations that an application with signed-in users needs beside the public API: sign-in, conversations, API ' +
    'keys, settings, users, organizations and sharing. Sign in with `sendSignInCode` and `verifySignInCode`, then send ' +
    'the access token as `Authorization: Bearer`. Branch on the status and `error.code`, never on messages.',
};

/** The tags of the published descriptions, in order. */
export const TAGS: readonly { readonly name: string; readonly description: string }[] = [
  { name: 'AI', description: 'Chat, completions, embeddings, agent runs, tools, quest polling.' },
  { name: 'Images', description: 'Generate and edit images.' },
  { name: 'Audio', description: 'Synchronous speech, sound effects and music.' },
  { name: 'Videos', description: 'Video generation as jobs.' },
  { name: 'Music', description: 'Music generation as jobs.' },
  { name: 'Transcriptions', description: 'Speech to text.' },
  { name: 'Sessions', description: 'Conversations.' },
  { name: 'Artifacts', description: 'Versioned documents from a conversation.' },
  { name: 'Files', description: 'Uploads with a check before use.' },
  { name: 'Projects', description: 'Groups of sessions and files.' },
  { name: 'Agents', description: 'Reusable instructions with a model and tools.' },
  { name: 'Data Lakes', description: 'Collections of files with semantic search.' },
  { name: 'Account', description: 'Identity, balance and usage.' },
  { name: 'Sign-in', description: 'One-time codes, tokens, device login and invites to register.' },
  { name: 'Conversations', description: 'Messages of a session and the agents attached to it.' },
  {
    name: 'Assistants',
    description: 'Agents of the signed-in user, their publication and their generated texts.',
  },
  { name: 'Models', description: 'The models that the caller can use, and single calls to them.' },
  { name: 'Memory', description: 'What chat remembers of the user.' },
  { name: 'API keys', description: 'API keys of the signed-in user for the public API.' },
  { name: 'Provider keys', description: "The user's own keys at model providers." },
  { name: 'Settings', description: 'Settings of the user and of the workspace.' },
  { name: 'Users', description: 'The users of the workspace.' },
  {
    name: 'Organizations',
    description: 'Groups of users that share one credit balance, and their subscriptions.',
  },
  {
    name: 'Sharing',
    description: 'Invites to projects, sessions, files, agents, artifacts and organizations.',
  },
  {
    name: 'Budgets',
    description: 'Limits of credits, tokens, requests and calls at the same time, per window.',
  },
  { name: 'Webhooks', description: 'Signed events, sent to addresses of users and organizations.' },
  { name: 'Audit', description: 'The log of administrative acts.' },
  { name: 'File transfer', description: 'Signed URLs for uploads and downloads.' },
  { name: 'Service', description: 'Health, analytics events and the API descriptions.' },
];
