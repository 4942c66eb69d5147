import type { Idempotency } from '../../../operations/idempotency.ts';
import { ApiError } from '../../../shared/errors.ts';
import type { ServerToolContext, ServerTools } from './tools.ts';

/** The owner of approvals, and the response or request that uses them. */
type User = Pick<ServerToolContext, 'userId' | 'sessionId'>;

/**
 * Uses up the approvals of an answer, directly before the first approved call. After that an approved call does not run again,
 * whatever becomes of it.
 * @throws ApiError 400 `approval_used`, with none of them used up.
 */
export async function spendApprovals(
  idempotency: Pick<Idempotency, 'useUp'>,
  tools: ServerTools,
  user: User,
): Promise<void> {
  refuseUsed(await idempotency.useUp(toUse(tools, user)));
}

/** Checks approvals when a request is accepted, before the work that uses them. @throws ApiError 400 `approval_used`. */
export async function checkApprovals(
  idempotency: Pick<Idempotency, 'findUsed'>,
  tools: ServerTools | undefined,
  user: User,
): Promise<void> {
  if (tools?.approved !== undefined) refuseUsed(await idempotency.findUsed(toUse(tools, user)));
}

function toUse({ approved = [] }: ServerTools, { userId, sessionId: workId }: User) {
  return { userId, workId, names: approved.map(({ id }) => id) };
}

function refuseUsed(id: string | undefined): void {
  if (id === undefined) return;
  throw new ApiError(400, `The approval of the call ${id.slice(0, 100)} was used before: a call runs once`, {
    code: 'approval_used',
  });
}
