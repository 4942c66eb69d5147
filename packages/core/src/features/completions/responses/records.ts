import { defineCollection, type StoredRecord } from '../../../ports/store.ts';
import type { QuestRequest } from '../../../runs/records.ts';
import type { ServerTools } from '../server-tools/tools.ts';

/*
 * A stored response is a quest of its own kind: one paid call of a model, whose request and answer are kept for the
 * client. The quest has the id of the response; this record holds the input.
 */

/** The quest kind of stored responses. */
export const RESPONSE = 'response';

/** Names the charges of responses, stored or not. */
export const RESPONSE_OPERATION = 'createResponse';

export interface ResponseRecord extends StoredRecord {
  readonly ownerId: string;
  /** The request as its wire describes it. JSON as text: an engine may change texts inside of JSON. */
  readonly wire: string;
  /** The items of the request, as its wire reads them. JSON as text. */
  readonly input: string;
  /** Ids of the earlier responses of the conversation, oldest first. */
  readonly earlier: readonly string[];
  /** The conversation that its items are added to, with what the wire needs to write them. JSON text. */
  readonly conversation?: { readonly id: string; readonly context: string };
  /** The call of the model, as JSON text. Absent after the end. */
  readonly call?: string;
  /** Bytes that count for the storage quota. */
  readonly bytes: number;
  readonly createdAt: number;
}

export const RESPONSES = defineCollection<ResponseRecord>({
  name: 'responses',
  columns: { ownerId: 'text', bytes: 'integer', createdAt: 'integer' },
  unique: [],
  indexes: [['ownerId', 'createdAt'], ['createdAt']],
});

/** An accepted response: the input of its worker. Plain JSON. */
export interface ResponseRequest extends QuestRequest {
  readonly model: string;
  /** The request set no cap: it may be lowered to what the credit covers. */
  readonly isCapOurs?: true;
  /** The tools that the server runs within the answer. */
  readonly serverTools?: ServerTools;
}
