import { jsonObject, list, text } from '@questline/core/internal';
import * as z from 'zod';

export const MAX_TOOLS = 512;
const MAX_PROPERTIES = 10_000;

const name = text({ min: 1, max: 128 });
const schema = jsonObject(MAX_PROPERTIES);

/** Functions and custom tools. The handler names the other types. */
const plainTool = z.looseObject({
  type: z.string(),
  name: name.optional(),
  description: z.string().nullish(),
  parameters: schema.nullish(),
  strict: z.boolean().nullish(),
  format: z
    .looseObject({ type: z.string(), syntax: z.string().optional(), definition: z.string().optional() })
    .nullish(),
});

/** Data lakes of one tool. Searches have the same limit. */
const MAX_LAKES = 20;

const lakeId = z.string().regex(/^[\w-]{1,200}$/, 'expected the id of a data lake');

/** The fields of the tools that the server runs. */
const serverTool = {
  vector_store_ids: list(lakeId, { min: 1, max: MAX_LAKES }).optional(),
  max_num_results: z.int().min(1).max(50).nullish(),
  ranking_options: z.looseObject({ score_threshold: z.number().min(0).max(1).nullish() }).nullish(),
  search_context_size: z.enum(['low', 'medium', 'high']).nullish(),
  external_web_access: z.boolean().nullish(),
};

/** A namespace has tools of its own. The client runs a search for tools whose `execution` is `client`. */
export const tool = plainTool.extend({
  ...serverTool,
  tools: list(plainTool, { max: MAX_TOOLS }).optional(),
  execution: z.string().nullish(),
});

export type PlainTool = z.output<typeof plainTool>;
export type RequestTool = z.output<typeof tool>;
