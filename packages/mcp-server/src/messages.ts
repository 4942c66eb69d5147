import {
  ApiError,
  type ApiResponse,
  defineRoute,
  jsonReply,
  Reply,
  type Route,
  type Services,
} from '@questline/core';
import { type Call, header } from '@questline/core/internal';
import {
  INTERNAL_ERROR,
  type JsonObject,
  RpcError,
  type RpcId,
  readMessage,
  toErrorMessage,
} from './json-rpc.ts';
import { answerMethod, type ServerParts } from './methods.ts';
import { answerMcpMessage, receiveMcpMessage } from './operations.ts';
import { refused } from './refusals.ts';
import { createRunner, toUnavailable } from './runner.ts';
import { readEra } from './versions.ts';

export interface MessageOptions {
  readonly apiPath: string;
  readonly allowedOrigins: '*' | ReadonlySet<string>;
  readonly allowedHosts: '*' | ReadonlySet<string>;
}

/** The caller has no request left. */
class OverLimit extends Error {
  readonly response: ApiResponse;
  constructor(response: ApiResponse) {
    super('over the limit');
    this.response = response;
  }
}

/** `POST` of one message. Every answer is a whole JSON object: nothing here needs a stream. */
export function createMessageHandler(parts: ServerParts, options: MessageOptions): Route {
  const { services } = parts;
  const slot = defineRoute(answerMcpMessage, services, async () => undefined);

  return defineRoute(receiveMcpMessage, services, async ({ body }, call) => {
    checkSender(call, options);
    const runner = createRunner(parts.routes, call, options.apiPath);
    let limits: Readonly<Record<string, string>> = {};
    let isCounted = false;
    const count = async (): Promise<void> => {
      if (isCounted) return;
      isCounted = true;
      const { status, headers, ...rest } = await slot.run(call.request, {});
      if (status >= 400) throw new OverLimit({ status, headers, ...rest });
      limits = Object.fromEntries(Object.entries(headers).filter(([name]) => /^x-ratelimit-/i.test(name)));
    };
    const reply = (status: number, value: JsonObject) =>
      jsonReply(status, value, { ...limits, ...runner.headers() });
    let id: RpcId | null = null;
    try {
      const message = await read(body, count);
      if (message.kind === 'notice') {
        await count();
        return new Reply(202, limits, undefined);
      }
      id = message.id;
      const { method, params } = message;
      const era = await counted(count, () => readEra(call.request.headers, message));
      const answering = answerMethod(parts, method, { call, runner, era, params, count });
      const result = await answering.catch(async (error: unknown) => {
        if (!runner.hasRun()) await count();
        throw error;
      });
      return reply(200, { jsonrpc: '2.0', id, result });
    } catch (error) {
      if (error instanceof OverLimit) {
        const { status, headers, body: refusal } = error.response;
        return new Reply(status, headers, refusal);
      }
      const failure = error instanceof RpcError ? error : report(services, call, error);
      return reply(failure.status, toErrorMessage(id, failure));
    }
  });
}

const read = (body: JsonObject, count: () => Promise<void>) => counted(count, () => readMessage(body));

/** Counts a message that is refused before it calls an operation. */
async function counted<T>(count: () => Promise<void>, work: () => T): Promise<T> {
  try {
    return work();
  } catch (error) {
    await count();
    throw error;
  }
}

function report({ onError }: Services, { requestId }: Call, error: unknown): RpcError {
  onError({ operation: receiveMcpMessage.id, requestId, error });
  const away = toUnavailable(error);
  if (away !== undefined) return refused(away);
  return new RpcError(INTERNAL_ERROR, 'Internal server error', {
    status: 500,
    data: { request_id: requestId },
  });
}

/**
 * Pages of other sites could send messages through the browser of a user, also under a name of theirs that resolves to
 * this server. @throws ApiError 403
 */
function checkSender(
  { request: { headers } }: Call,
  { allowedOrigins, allowedHosts }: Pick<MessageOptions, 'allowedOrigins' | 'allowedHosts'>,
): void {
  const host = (header(headers, 'host') ?? header(headers, ':authority'))?.toLowerCase() ?? '';
  if (allowedHosts !== '*' && !allowedHosts.has(host) && !allowedHosts.has(host.replace(/:\d+$/, ''))) {
    throw new ApiError(403, 'This server may not be called by this host');
  }
  const origin = header(headers, 'origin');
  if (origin === undefined || allowedOrigins === '*' || allowedOrigins.has(origin)) return;
  if (URL.canParse(origin) && new URL(origin).host === host) return;
  throw new ApiError(403, 'Pages of this origin may not send messages');
}
