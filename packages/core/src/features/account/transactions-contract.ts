import * as z from 'zod';
import { defineOperation } from '../../contract/operation.ts';
import { getCreditBalance } from './contract.ts';

/** Newest charges of an answer. */
export const MAX_TRANSACTIONS = 1000;
const MAX_DAYS = 365;

const transactionType = z.enum([
  'text_generation_usage',
  'image_generation_usage',
  'image_edit_usage',
  'video_generation_usage',
  'completion_api_usage',
  'speech_to_text_usage',
  'text_to_speech_usage',
  'sound_effects_usage',
  'tool_usage',
  'generic_deduct',
]);

export type TransactionType = z.output<typeof transactionType>;

const transaction = z.object({
  type: transactionType.meta({ description: 'What was paid for.' }),
  credits: z.number().min(0).meta({ description: 'The charged credits, 0 or more.' }),
  model: z.string().optional().meta({ description: 'The id of the model.' }),
  metadata: z
    .object({
      id: z.string().meta({ description: 'The id of the charge.' }),
      operation: z.string().meta({ description: 'The operation that was called.' }),
      created_at: z.iso.datetime().meta({ description: 'The time of the call.' }),
      request_id: z.string().optional().meta({ description: 'The correlation id of the call.' }),
    })
    .meta({ description: 'Facts about the call.' }),
});

export type WireTransaction = z.input<typeof transaction>;

export const listCreditTransactions = defineOperation({
  ...getCreditBalance,
  id: 'listCreditTransactions',
  path: '/api/credits/transactions',
  side: 'application',
  summary: 'List what credits were spent on, newest first',
  description: `The newest ${MAX_TRANSACTIONS} settled charges of the account that pays for the caller.`,
  input: {
    query: z.object({
      days: z
        .string()
        .regex(/^[1-9]\d{0,2}$/, `expected a whole number from 1 to ${MAX_DAYS}`)
        .transform(Number)
        .refine((days) => days <= MAX_DAYS, `expected at most ${MAX_DAYS}`)
        .default(30)
        .meta({
          type: 'integer',
          minimum: 1,
          maximum: MAX_DAYS,
          default: 30,
          description: `The number of days to look back, 1 to ${MAX_DAYS}.`,
        }),
    }),
  },
  output: { 200: { description: 'The charges.', schema: z.array(transaction) } },
});
