import type { PageResponse } from '@anthropic-ai/sdk/core/pagination';
import type {
  Message,
  MessageTokensCount,
  RawMessageStreamEvent,
} from '@anthropic-ai/sdk/resources/messages/messages';
import type { ModelInfo } from '@anthropic-ai/sdk/resources/models';
import type { ErrorResponse } from '@anthropic-ai/sdk/resources/shared';

/** The answers of the Anthropic wire by operation: JSON under its name, stream events under `<name>, stream`. */
export interface AnthropicAnswers {
  'POST /v1/messages': Message;
  /** The SDK reads `ping` and `error` events itself and has no types for them. */
  'POST /v1/messages, stream': RawMessageStreamEvent | { type: 'ping' } | ErrorResponse;
  'POST /v1/messages/count_tokens': MessageTokensCount;
  'GET /v1/models': PageResponse<ModelInfo>;
  'GET /v1/models/{}': ModelInfo;
  error: ErrorResponse;
}
