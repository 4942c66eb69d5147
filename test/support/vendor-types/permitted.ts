import type { Mismatch } from './check-value.ts';

/** The fields of ours beside the vendors', and the shape of a list that serves the clients of both. */
const CREDITS = 'what the answer cost; documented with the wire';
const BOTH_VENDORS = 'one list of models serves the clients of both vendors';
const LIST = 'the vendor documents it; the page type of its SDK has only what it reads';

/** Fields that the types do not have, by type and field, with the reason. */
const ADDED: Readonly<Record<string, string>> = {
  'ChatCompletion.credits': CREDITS,
  'ChatCompletionChunk.credits': CREDITS,
  'Response.credits': CREDITS,
  'Message.credits': CREDITS,
  'RawMessageDeltaEvent.credits': CREDITS,
  'ChatCompletionMessage.reasoning_content':
    'the text of the reasoning, as other vendors of this protocol send it',
  'ChatCompletionMessage.reasoning_details': 'reasoning that the client sends back',
  'ChatCompletionChunk.Choice.Delta.reasoning_content': 'the text of the reasoning, as above',
  'ChatCompletionChunk.Choice.Delta.reasoning_details': 'reasoning that the client sends back',
  'MessageTokensCount.estimated': 'no provider is asked for the number',
  'Response.store': 'the vendor sends it',
  'ResponseCustomToolCall.status': 'the vendor sends it',
  'ResponseFunctionCallArgumentsDoneEvent.name': 'earlier versions of the SDK require it',
  'ResponseErrorEvent.error': 'SDKs throw the error of an event that has this field',
  'CursorPageResponse.object': LIST,
  'CursorPageResponse.first_id': LIST,
  'CursorPageResponse.last_id': LIST,
  'PageResponse.object': BOTH_VENDORS,
  'PageResponse.has_more': BOTH_VENDORS,
  'PageResponse.first_id': BOTH_VENDORS,
  'PageResponse.last_id': BOTH_VENDORS,
};

/** The fields of a model that only one vendor has, and three of ours. */
const MODEL_FIELDS: Readonly<Record<'Model' | 'ModelInfo', readonly string[]>> = {
  Model: [
    ...['type', 'created_at', 'display_name', 'max_input_tokens', 'max_tokens', 'capabilities'],
    ...['deprecated_at', 'lifecycle', 'line', 'retires_at', 'kind', 'context_window', 'max_output_tokens'],
  ],
  ModelInfo: [
    'object',
    'created',
    'owned_by',
    'shutdown_date',
    'kind',
    'context_window',
    'max_output_tokens',
  ],
};

/** Required fields that the client computes: they are not sent. */
const COMPUTED: Readonly<Record<string, string>> = {
  'Response.output_text': 'the client joins it from the output',
};

interface PermittedValue {
  readonly reason: string;
  isValid(value: unknown): boolean;
}

/** Values beside those of the types. */
const VALUES: Readonly<Record<string, PermittedValue>> = {
  'Embedding.embedding': {
    reason: 'base64 of 32-bit floats where encoding_format asks for it; the client decodes it',
    isValid: (value) =>
      typeof value === 'string' && /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/=]{4})$/.test(value),
  },
  'ErrorResponse.error': {
    reason: 'the vendor documents these types of 409 and 413; the objects of its SDK lack them',
    isValid: (value) => {
      const { type, message, ...rest } = value as Readonly<Record<string, unknown>>;
      const isListed = type === 'conflict_error' || type === 'request_too_large';
      return isListed && typeof message === 'string' && Object.keys(rest).length === 0;
    },
  },
  'ResponseError.code': {
    reason: 'coding tools know used-up credit and full contexts by these codes',
    isValid: (value) => value === 'insufficient_quota' || value === 'context_length_exceeded',
  },
};

/** @returns whether an answer may differ from its type in this. */
export function isPermitted({ kind, field = '', value }: Mismatch): boolean {
  switch (kind) {
    case 'unknown field':
      return Object.hasOwn(ADDED, field) || isModelField(field);
    case 'missing field':
      return Object.hasOwn(COMPUTED, field);
    case 'value':
      return Object.hasOwn(VALUES, field) && VALUES[field]?.isValid(value) === true;
  }
}

function isModelField(field: string): boolean {
  const [type = '', name = ''] = field.split('.');
  return (type === 'Model' || type === 'ModelInfo') && MODEL_FIELDS[type].includes(name);
}
