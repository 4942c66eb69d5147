export { chat, checkQuest, type Turn } from './chat.ts';
export {
  type Caller,
  type Client,
  type ClientOptions,
  type CredentialContext,
  type CredentialSource,
  createClient,
  type Methods,
  type Operations,
} from './client.ts';
export { type Completion, type CompletionFrame, collect, complete, type ToolCall } from './completion.ts';
export {
  type Charge,
  type FieldProblem,
  type ProviderProblem,
  QuestlineError,
  type QuestlineErrorOptions,
} from './error.ts';
export type { EventStream, Frame } from './events.ts';
export { type FollowOptions, follow } from './follow.ts';
export type {
  Answer,
  CallArguments,
  CallOptions,
  Fetch,
  FetchInit,
  NoInput,
  Operation,
  PagedOperation,
  PageRule,
  Transport,
} from './operation.ts';
export { entries, pages } from './pages.ts';
export { type PollOptions, poll } from './poll.ts';
export { type Progress, progress } from './progress.ts';
export { followQuest, type Quest } from './quest.ts';
export { createTokens, type TokenStorage, type Tokens } from './tokens.ts';
export { type StoredFile, type UploadOptions, upload } from './upload.ts';
