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

const names = list(name, { max: MAX_TOOLS });
const mcpFilter = z.looseObject({ tool_names: names.nullish(), read_only: z.boolean().nullish() });

/** The fields of the tools that the server runs. */
const serverTool = {
  server_label: name.optional(),
  server_url: z.string().nullish(),
  allowed_tools: z.union([names, mcpFilter]).nullish(),
  require_approval: z
    .union([
      z.enum(['always', 'never']),
      z.looseObject({ always: mcpFilter.nullish(), never: mcpFilter.nullish() }),
    ])
    .nullish(),
  vector_store_ids: list(lakeId, { min: 1, max: MAX_LAKES }).optional(),
  max_num_results: z.int().min(1).max(50).nullish(),
  ranking_options: z.looseObject({ score_threshold: z.number().min(0).max(1).nullish() }).nullish(),
  search_context_size: z.enum(['low', 'medium', 'high']).nullish(),
  external_web_access: z.boolean().nullish(),
};

/** The credentials of a tool server. They are removed here, so that no request with one is stored or repeated. */
const CREDENTIALS = ['authorization', 'headers'] as const;

/** Refuses the credentials of a tool server, and removes fields of these names from other tools. */
function withoutCredentials<S extends z.ZodType<{ readonly type: string }>>(schema: S) {
  return schema.transform((value, context): z.output<S> => {
    const fields: Record<string, unknown> = { ...value };
    for (const field of CREDENTIALS) {
      if (value.type === 'mcp' && fields[field] != null) {
        const message = `not supported: leave ${field} out; tool servers are called with the credential that the host or the user has given this server`;
        context.addIssue({ code: 'custom', path: [field], message });
      }
      delete fields[field];
    }
    return fields as z.output<S>;
  });
}

/** A namespace has tools of its own. The client runs a search for tools whose `execution` is `client`. */
export const tool = withoutCredentials(
  plainTool.extend({
    ...serverTool,
    tools: list(withoutCredentials(plainTool), { max: MAX_TOOLS }).optional(),
    execution: z.string().nullish(),
  }),
);

export type McpFilter = z.output<typeof mcpFilter>;
export type PlainTool = z.output<typeof plainTool>;
export type RequestTool = z.output<typeof tool>;
