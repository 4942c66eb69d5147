import { INVALID_PARAMS, RpcError } from './json-rpc.ts';
import { OperationRefused } from './runner.ts';

/** An operation refused the call. */
const REFUSED = -32000;

/**
 * Runs operations for a method that is no tool: their refusals are errors of the protocol.
 * @param notFound the error for what does not exist or is not shown to the caller. @throws RpcError
 */
export async function orRefused<T>(
  work: () => Promise<T>,
  notFound: (message: string) => RpcError,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof OperationRefused)) throw error;
    throw error.status === 404 ? notFound(error.message) : refused(error);
  }
}

export function refused({ status, message, retryAfter }: OperationRefused): RpcError {
  const data = { status, ...(retryAfter !== undefined && { retryAfter }) };
  return new RpcError(status === 422 ? INVALID_PARAMS : REFUSED, message, { data });
}
