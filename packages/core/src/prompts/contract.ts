import * as z from 'zod';

export const promptMode = z.enum(['raw', 'grounded', 'surface']);

export const promptDetail = z.object({
  source: z
    .enum(['hardcoded', 'admin', 'user', 'project', 'session', 'org', 'caller'])
    .describe('Who set the part.'),
  name: z.string().describe('The name of the part.'),
  tokenCount: z.number().describe('The estimated length, in tokens.'),
  wasIncluded: z.boolean().describe('Whether the model got the part.'),
  exclusionReason: z
    .enum(['duplicate', 'disabled', 'token_limit'])
    .optional()
    .describe('Why the model did not get the part.'),
  withheld: z.literal(true).optional().meta({
    description:
      'The text of this part belongs to another user or to the host; `promptText` contains only its name.',
  }),
});

export type PromptDetail = z.input<typeof promptDetail>;
export type PromptMode = z.output<typeof promptMode>;
