import { jsonObject, list, text } from '@questline/core/internal';
import * as z from 'zod';
import { MAX_TOOLS, tool } from './contract-tools.ts';

/*
 * The items of `input` by the types of the npm package `openai` 7.57.0 (13 November 2026). Other types are passed on as
 * `other`, so that the handler can name them.
 */

const MAX_PARTS = 2000;
const MAX_FIELDS = 100;
/** Tools of one tool server. */
const MAX_LISTED = 10_000;

const inputText = z.object({ type: z.literal('input_text'), text: z.string() });

const inputImage = z.looseObject({
  type: z.literal('input_image'),
  image_url: z.string().nullish(),
  file_id: z.string().nullish(),
});

const inputFile = z.object({
  type: z.literal('input_file'),
  file_data: z.string().nullish(),
  file_id: z.string().nullish(),
  file_url: z.string().nullish(),
  filename: z.string().nullish(),
});

const outputText = z.looseObject({ type: z.literal('output_text'), text: z.string() });
const refusal = z.object({ type: z.literal('refusal'), refusal: z.string() });
/** What some clients call the parts of a message. */
const plainText = z.object({ type: z.literal('text'), text: z.string() });

const messageContent = z.union([
  z.string(),
  list(z.discriminatedUnion('type', [inputText, inputImage, inputFile, outputText, plainText, refusal]), {
    max: MAX_PARTS,
  }),
]);

const message = z.looseObject({
  type: z.literal('message'),
  role: z.enum(['user', 'assistant', 'system', 'developer']),
  content: messageContent,
});

const id = z.string().min(1);
const name = text({ min: 1, max: 128 });

const functionCall = z.object({
  type: z.literal('function_call'),
  call_id: id,
  name,
  namespace: name.nullish(),
  arguments: z.string(),
});

const customCall = z.object({
  type: z.literal('custom_tool_call'),
  call_id: id,
  name,
  namespace: name.nullish(),
  input: z.string(),
});

const searchCall = z.object({
  type: z.literal('tool_search_call'),
  call_id: id,
  arguments: jsonObject(MAX_FIELDS),
});

const tools = list(tool, { max: MAX_TOOLS });
const searchOutput = z.object({ type: z.literal('tool_search_output'), call_id: id, tools });
/** Tools that the client offers from the start, or from this place on. */
const additionalTools = z.object({ type: z.literal('additional_tools'), tools });

const output = z.union([
  z.string(),
  list(z.discriminatedUnion('type', [inputText, inputImage, inputFile]), { max: MAX_PARTS }),
]);

const functionOutput = z.object({ type: z.literal('function_call_output'), call_id: id, output });
const customOutput = z.object({ type: z.literal('custom_tool_call_output'), call_id: id, output });

const reasoning = z.looseObject({
  type: z.literal('reasoning'),
  encrypted_content: z.string().nullish(),
});

/** Records of tools that the server has run. */
const webSearchCall = z.looseObject({ type: z.literal('web_search_call') });
const fileSearchCall = z.looseObject({ type: z.literal('file_search_call') });

const mcpListTools = z.looseObject({
  type: z.literal('mcp_list_tools'),
  server_label: z.string(),
  tools: list(z.looseObject({ name: z.string(), input_schema: z.unknown() }), { max: MAX_LISTED }),
  error: z.string().nullish(),
});
const mcpCall = z.looseObject({
  type: z.literal('mcp_call'),
  id,
  server_label: name,
  name,
  arguments: z.string(),
  approval_request_id: z.string().nullish(),
  output: z.string().nullish(),
  error: z.union([z.string(), z.looseObject({})]).nullish(),
});
const mcpApprovalRequest = z.looseObject({
  type: z.literal('mcp_approval_request'),
  id,
  server_label: name,
  name,
  arguments: z.string(),
});
const mcpApprovalResponse = z.object({
  type: z.literal('mcp_approval_response'),
  approval_request_id: id,
  approve: z.boolean(),
  reason: z.string().nullish(),
});

const itemReference = z.object({ type: z.literal('item_reference'), id });

const other = z.object({ type: z.literal('other'), name: z.string(), value: z.unknown() });

const item = z.discriminatedUnion('type', [
  message,
  functionCall,
  functionOutput,
  customCall,
  customOutput,
  searchCall,
  searchOutput,
  additionalTools,
  webSearchCall,
  fileSearchCall,
  mcpListTools,
  mcpCall,
  mcpApprovalRequest,
  mcpApprovalResponse,
  reasoning,
  itemReference,
  other,
]);

const KNOWN: readonly string[] = [
  'message',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
  'tool_search_call',
  'tool_search_output',
  'additional_tools',
  'web_search_call',
  'file_search_call',
  'mcp_list_tools',
  'mcp_call',
  'mcp_approval_request',
  'mcp_approval_response',
  'reasoning',
  'item_reference',
];

/** A message needs no type, and neither does a reference. */
export const inputItem = z.preprocess((value) => {
  if (typeof value !== 'object' || value === null) return value;
  const { type, role, id } = value as {
    readonly type?: unknown;
    readonly role?: unknown;
    readonly id?: unknown;
  };
  if (type == null) {
    const isReference = role === undefined && typeof id === 'string';
    return { ...value, type: isReference ? 'item_reference' : 'message' };
  }
  if (typeof type !== 'string' || KNOWN.includes(type)) return value;
  return { type: 'other', name: type.slice(0, 100), value };
}, item);

export type InputItem = z.output<typeof item>;
/** An item that is not a reference. */
export type WholeItem = Exclude<InputItem, { readonly type: 'item_reference' }>;
export type MessageItem = z.output<typeof message>;
export type CallItem =
  | z.output<typeof functionCall>
  | z.output<typeof customCall>
  | z.output<typeof searchCall>;
export type OutputItem =
  | z.output<typeof functionOutput>
  | z.output<typeof customOutput>
  | z.output<typeof searchOutput>;
export type ReasoningItem = z.output<typeof reasoning>;
export type InputPart =
  | z.output<typeof inputText>
  | z.output<typeof plainText>
  | z.output<typeof inputImage>
  | z.output<typeof inputFile>;
