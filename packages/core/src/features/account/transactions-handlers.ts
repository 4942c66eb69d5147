import { getAccount } from '../../contract/call.ts';
import { toCredits } from '../../credits/amounts.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import type { Charge } from '../../ports/ledger.ts';
import type { AccountServices } from './handlers.ts';
import {
  listCreditTransactions,
  MAX_TRANSACTIONS,
  type TransactionType,
  type WireTransaction,
} from './transactions-contract.ts';

const DAY_MS = 24 * 3_600_000;

/** `GET /api/credits/transactions` */
export function createListCreditTransactionsHandler(services: AccountServices): Route {
  return defineRoute(listCreditTransactions, services, async ({ query }, { caller }) => {
    const since = services.clock.now() - query.days * DAY_MS;
    // Newest first, so the charges of the period are the first ones.
    const account = getAccount(caller);
    const isShared = caller.organizationId !== undefined;
    const filter = isShared ? { account, userId: caller.userId } : { account };
    const charges = await services.ledger.charges(filter, MAX_TRANSACTIONS);
    return charges
      .filter(({ status, amount, createdAt }) => status === 'settled' && amount > 0 && createdAt >= since)
      .map(toTransaction);
  });
}

function toTransaction(charge: Charge): WireTransaction {
  const { id, amount, model, operation, requestId, createdAt } = charge;
  return {
    type: getType(charge),
    credits: toCredits(amount),
    ...(model !== undefined && { model }),
    metadata: {
      id,
      operation,
      created_at: new Date(createdAt).toISOString(),
      ...(requestId !== undefined && { request_id: requestId }),
    },
  };
}

/** Operations whose work is of one kind. The units of all others show it. */
const TYPES: Readonly<Record<string, TransactionType>> = {
  createCompletion: 'completion_api_usage',
  createVideoGeneration: 'video_generation_usage',
  editImage: 'image_edit_usage',
  generateImage: 'image_generation_usage',
  executeTool: 'tool_usage',
  generateSoundEffect: 'sound_effects_usage',
  synthesizeSpeech: 'text_to_speech_usage',
  createTranscription: 'speech_to_text_usage',
  transcribeAtOnce: 'speech_to_text_usage',
};

function getType({ operation, usage = {} }: Charge): TransactionType {
  const known = TYPES[operation];
  if (known !== undefined) return known;
  if (usage.images !== undefined) return 'image_generation_usage';
  return usage.output === undefined && usage.reasoning === undefined
    ? 'generic_deduct'
    : 'text_generation_usage';
}
