import {
  InsufficientScopeError,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import type { ToolResult } from '@questline/core';
import { type Connection, type Credential, connect, type Times } from './connection.ts';
import { getConnectTool, getOffers, type McpTool } from './offers.ts';
import type { McpServerOptions } from './options.ts';
import { toResult } from './results.ts';

export interface ToolServerSettings extends Times {
  /** Delay before an unreachable server is tried again, in milliseconds. */
  readonly retryAfterMs: number;
  readonly onError: (error: unknown, serverId: string) => void;
}

/** One tool server, with one credential. Connects when it is first needed, and reconnects when the connection was lost. */
export interface ToolServer {
  /**
   * Its tools; none while it is unreachable. While the user has to authorize: the tool that begins the authorization.
   * Never rejects.
   */
  tools(): Promise<readonly McpTool[]>;
  /** As `tools`, with the reason why there are none. */
  list(): Promise<ListedTools>;
  /** Never rejects. */
  call(tool: McpTool, input: unknown, signal: AbortSignal): Promise<ToolResult>;
  /** Never rejects. */
  close(): Promise<void>;
}

export interface ListedTools {
  readonly tools: readonly McpTool[];
  readonly error?: string;
}

/** @param authorize resolves what the server is called with. Called again after a rejection. */
export function createToolServer(
  options: McpServerOptions,
  authorize: () => Promise<Credential>,
  settings: ToolServerSettings,
): ToolServer {
  let connecting: Promise<Connection> | undefined;
  let authorizing: Promise<Credential> | undefined;
  let leftAloneUntil = 0;
  let isClosed = false;
  const report = (error: unknown): void => settings.onError(error, options.id);

  const getCredential = (): Promise<Credential> => {
    if (authorizing === undefined) {
      const attempt = authorize();
      authorizing = attempt;
      attempt.catch(() => {
        if (authorizing === attempt) authorizing = undefined;
      });
    }
    return authorizing;
  };

  /** Concurrent calls share one connection. */
  const connected = async (): Promise<Connection> => {
    const before = connecting;
    const current = await before?.catch(() => undefined);
    if (current?.isOpen === true) return current;
    if (isClosed) throw new Error('the tools are closed');
    if (settings.now() < leftAloneUntil) throw new Error('the server could not be reached a moment ago');
    // Concurrent calls share one attempt.
    if (connecting === before) connecting = undefined;
    const attempt = connecting ?? open();
    connecting = attempt;
    try {
      return await attempt;
    } catch (error) {
      if (connecting === attempt) {
        connecting = undefined;
        // A user who has just authorized does not wait.
        if (!isRefused(error)) leftAloneUntil = settings.now() + settings.retryAfterMs;
        report(error);
      }
      throw error;
    }
  };

  const open = async (): Promise<Connection> => connect(options, await getCredential(), settings, report);

  const drop = async (connection: Connection): Promise<void> => {
    if ((await connecting?.catch(() => undefined)) === connection) connecting = undefined;
    await connection.close();
  };

  /** Whether the server can be called only after an authorization by the user. */
  const lacksToken = async (): Promise<boolean> => {
    const { authorization } = await getCredential();
    return authorization?.begin !== undefined && (await authorization.token()) === undefined;
  };

  const attemptCall = async (name: string, input: unknown, signal: AbortSignal): Promise<ToolResult> => {
    const connection = await connected();
    try {
      const result = await connection.client.callTool(
        { name, arguments: input as Record<string, unknown> },
        { signal, timeout: settings.callTimeoutMs },
      );
      return toResult(result);
    } catch (error) {
      if (!isAnswer(error) && !signal.aborted) await drop(connection);
      throw error;
    }
  };

  const callOnce = async (name: string, input: unknown, signal: AbortSignal): Promise<ToolResult> => {
    try {
      return await attemptCall(name, input, signal);
    } catch (error) {
      // The server has lost the session and has executed nothing: only this failure can be retried.
      if (!isForgotten(error)) throw error;
      return await attemptCall(name, input, signal);
    }
  };

  /** Asks the user to authorize. */
  const begin = async (refusal?: unknown): Promise<ToolResult> => {
    const { authorization } = await getCredential();
    const scope = refusal instanceof InsufficientScopeError ? refusal.requiredScope : undefined;
    const url = await authorization?.begin?.(scope);
    if (url === undefined) return failed(`The tool server ${options.id} refused the credential of the user.`);
    const why = scope === undefined ? 'must connect' : 'must permit more for';
    return failed(
      `The user ${why} ${options.id} first. Ask the user to open this address, then try again: ${url}`,
    );
  };

  /** Reports a failure of what is not the connection: that reports its own, once. */
  const reported = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      report(error);
      throw error;
    });

  const list = async (): Promise<ListedTools> => {
    try {
      if (await reported(lacksToken())) return { tools: [getConnectTool(options)] };
      const connection = await connected();
      return { tools: getOffers(options, await reported(connection.tools())) };
    } catch (error) {
      if (!isRefused(error)) return { tools: [], error: 'The tool server could not be reached.' };
      const { authorization } = await getCredential().catch(() => NO_CREDENTIAL);
      if (authorization?.begin !== undefined) return { tools: [getConnectTool(options)] };
      return { tools: [], error: 'The tool server refused the credential of the user.' };
    }
  };

  return {
    list,
    tools: async () => (await list()).tools,

    async call({ name, connects }, input, signal) {
      if (typeof input !== 'object' || input === null || Array.isArray(input)) {
        return failed('The arguments have to be an object.');
      }
      try {
        if (connects === true) return { ...(await begin()), isError: false };
        return await callOnce(name, input, signal);
      } catch (error) {
        if (!signal.aborted) report(error);
        if (!isRefused(error)) return toFailure(error);
        return await begin(error).catch((reason: unknown) => {
          report(reason);
          return toFailure(reason);
        });
      }
    },

    async close() {
      isClosed = true;
      const connection = await connecting?.catch(() => undefined);
      connecting = undefined;
      await connection?.close();
    },
  };
}

const NO_CREDENTIAL: Credential = { headers: {}, authorization: undefined };

function failed(content: string): ToolResult {
  return { content, isError: true };
}

/** The server has rejected the call; the connection is intact. */
function isAnswer(error: unknown): boolean {
  return error instanceof ProtocolError || error instanceof InsufficientScopeError;
}

/** The server has refused the credential. */
function isRefused(error: unknown): boolean {
  if (error instanceof SdkHttpError) return error.status === 401;
  return error instanceof UnauthorizedError || error instanceof InsufficientScopeError;
}

function isForgotten(error: unknown): boolean {
  return error instanceof SdkHttpError && error.status === 404;
}

function toFailure(error: unknown): ToolResult {
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) {
    return { ...failed('The tool did not answer in time.'), failure: { type: 'http', code: 504 } };
  }
  if (error instanceof ProtocolError) {
    const text =
      error.code === ProtocolErrorCode.InvalidParams
        ? 'The tool server refused the arguments.'
        : 'The tool server could not do this.';
    return { ...failed(text), failure: { type: 'protocol', code: error.code } };
  }
  const code = error instanceof SdkHttpError ? error.status : 502;
  return { ...failed('The tool server could not do this.'), failure: { type: 'http', code } };
}
