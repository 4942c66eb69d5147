import type { CursorPageResponse, PageResponse } from 'openai/core/pagination';
import type { Transcription, TranscriptionVerbose } from 'openai/resources/audio/transcriptions';
import type { ChatCompletion, ChatCompletionChunk } from 'openai/resources/chat/completions';
import type { Conversation, ConversationDeletedResource } from 'openai/resources/conversations/conversations';
import type { ConversationItem, ConversationItemList } from 'openai/resources/conversations/items';
import type { CreateEmbeddingResponse } from 'openai/resources/embeddings';
import type { FileDeleted, FileObject } from 'openai/resources/files';
import type { ImagesResponse } from 'openai/resources/images';
import type { Model } from 'openai/resources/models';
import type { ResponseItemList } from 'openai/resources/responses/input-items';
import type { Response, ResponseStreamEvent } from 'openai/resources/responses/responses';
import type { ErrorObject } from 'openai/resources/shared';

/** The answers of the OpenAI wire by operation: JSON under its name, stream events under `<name>, stream`. */
export interface OpenAIAnswers {
  'POST /v1/chat/completions': ChatCompletion;
  'POST /v1/chat/completions, stream': ChatCompletionChunk;
  'GET /v1/models': PageResponse<Model>;
  'GET /v1/models/{}': Model;
  'POST /v1/embeddings': CreateEmbeddingResponse;
  'POST /v1/images/generations': ImagesResponse;
  'POST /v1/images/edits': ImagesResponse;
  'POST /v1/audio/transcriptions': Transcription | TranscriptionVerbose;
  'POST /v1/files': FileObject;
  'GET /v1/files': CursorPageResponse<FileObject>;
  'GET /v1/files/{}': FileObject;
  'DELETE /v1/files/{}': FileDeleted;
  'POST /v1/responses': Response;
  'POST /v1/responses, stream': ResponseStreamEvent;
  'GET /v1/responses/{}': Response;
  'GET /v1/responses/{}, stream': ResponseStreamEvent;
  'POST /v1/responses/{}/cancel': Response;
  /** The SDK has no type for it: its method returns nothing. */
  'DELETE /v1/responses/{}': { id: string; object: 'response'; deleted: true };
  'GET /v1/responses/{}/input_items': ResponseItemList;
  'POST /v1/conversations': Conversation;
  'GET /v1/conversations/{}': Conversation;
  'POST /v1/conversations/{}': Conversation;
  'DELETE /v1/conversations/{}': ConversationDeletedResource;
  'GET /v1/conversations/{}/items': ConversationItemList;
  'POST /v1/conversations/{}/items': ConversationItemList;
  'GET /v1/conversations/{}/items/{}': ConversationItem;
  'DELETE /v1/conversations/{}/items/{}': Conversation;
  error: { error: ErrorObject };
}
