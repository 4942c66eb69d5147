import { isBase64, jsonObject, list, text } from '@questline/core/internal';
import * as z from 'zod';

/* The content blocks of requests, by the types of the npm package `@anthropic-ai/sdk` 1.12.0. */

/** Maximum blocks of one message, or of one tool's result. */
export const MAX_BLOCKS = 2000;
/** Maximum top-level fields of a tool's input or schema. */
export const MAX_PROPERTIES = 10_000;

const data = z.string().refine(isBase64, 'expected base64');

/** A cache breakpoint. Only its presence counts. */
const cached = { cache_control: z.unknown().optional() };

export const textBlock = z.object({ type: z.literal('text'), text: z.string(), ...cached });

const url = z.object({ type: z.literal('url'), url: z.string().min(1) });
const file = z.object({ type: z.literal('file'), file_id: z.string().min(1) });

const image = z.object({
  type: z.literal('image'),
  source: z.discriminatedUnion('type', [
    z.object({
      type: z.literal('base64'),
      media_type: z.enum(['image/png', 'image/jpeg', 'image/webp', 'image/gif']),
      data,
    }),
    url,
    file,
  ]),
  ...cached,
});

const document = z.object({
  type: z.literal('document'),
  source: z.discriminatedUnion('type', [
    z.object({ type: z.literal('base64'), media_type: text({ min: 1, max: 200 }), data }),
    z.object({ type: z.literal('text'), media_type: z.string().nullish(), data: z.string() }),
    z.object({
      type: z.literal('content'),
      content: z.union([
        z.string(),
        list(z.discriminatedUnion('type', [textBlock, image]), { max: MAX_BLOCKS }),
      ]),
    }),
    url,
    file,
  ]),
  title: z.string().nullish(),
  context: z.string().nullish(),
  citations: z.object({ enabled: z.boolean().nullish() }).nullish(),
  ...cached,
});

const searchResult = z.object({
  type: z.literal('search_result'),
  source: z.string(),
  title: z.string(),
  content: list(textBlock, { max: MAX_BLOCKS }),
  citations: z.object({ enabled: z.boolean().nullish() }).nullish(),
  ...cached,
});

const toolReference = z.object({ type: z.literal('tool_reference'), tool_name: z.string(), ...cached });

const toolUse = z.object({
  type: z.literal('tool_use'),
  id: z.string().min(1),
  name: text({ min: 1, max: 200 }),
  input: jsonObject(MAX_PROPERTIES),
  ...cached,
});

const toolResult = z.object({
  type: z.literal('tool_result'),
  tool_use_id: z.string().min(1),
  content: z
    .union([
      z.string(),
      list(z.discriminatedUnion('type', [textBlock, image, document, searchResult, toolReference]), {
        max: MAX_BLOCKS,
      }),
    ])
    .nullish(),
  is_error: z.boolean().nullish(),
  ...cached,
});

const thought = z.looseObject({ type: z.enum(['thinking', 'redacted_thinking']) });

const KNOWN = 'text, image, document, search_result, tool_use, tool_result, thinking or redacted_thinking';

export const contentBlock = z.discriminatedUnion(
  'type',
  [textBlock, image, document, searchResult, toolUse, toolResult, thought],
  {
    error: ({ code }) =>
      code === 'invalid_union' ? `not supported: expected a block of type ${KNOWN}` : undefined,
  },
);

export type TextBlock = z.output<typeof textBlock>;
export type ImageBlock = z.output<typeof image>;
export type DocumentBlock = z.output<typeof document>;
export type SearchResultBlock = z.output<typeof searchResult>;
export type ToolResultBlock = z.output<typeof toolResult>;
export type RequestBlock = z.output<typeof contentBlock>;
