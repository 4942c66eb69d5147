import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import type { ToolResult } from '@questline/core';
import { type Connection, connect, type Times } from './connection.ts';
import { getOffers, type McpTool } from './offers.ts';
import type { McpServerOptions } from './options.ts';
import { toResult } from './results.ts';

export interface ToolServerSettings extends Times {
  /** Delay before an unreachable server is tried again, in milliseconds. */
  readonly retryAfterMs: number;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly onError: (error: unknown, serverId: string) => void;
}

/** One tool server. Connects when it is first needed, and reconnects when the connection was lost. */
export interface ToolServer {
  /** Its tools; empty while it is unreachable. Never rejects. */
  tools(): Promise<readonly McpTool[]>;
  /** Never rejects. */
  call(name: string, input: unknown, signal: AbortSignal): Promise<ToolResult>;
  /** Never rejects. */
  close(): Promise<void>;
}

export function createToolServer(options: McpServerOptions, settings: ToolServerSettings): ToolServer {
  let connecting: Promise<Connection> | undefined;
  let leftAloneUntil = 0;
  let isClosed = false;
  const report = (error: unknown): void => settings.onError(error, options.id);

  /** Concurrent calls share one connection. */
  const connected = async (): Promise<Connection> => {
    const before = connecting;
    const current = await before?.catch(() => undefined);
    if (current?.isOpen === true) return current;
    if (isClosed) throw new Error('the tools are closed');
    if (settings.now() < leftAloneUntil) throw new Error('the server could not be reached a moment ago');
    // Concurrent calls share one attempt.
    if (connecting === before) connecting = undefined;
    const attempt = connecting ?? connect(options, settings, report);
    connecting = attempt;
    try {
      return await attempt;
    } catch (error) {
      if (connecting === attempt) {
        connecting = undefined;
        leftAloneUntil = settings.now() + settings.retryAfterMs;
        report(error);
      }
      throw error;
    }
  };

  const drop = async (connection: Connection): Promise<void> => {
    if ((await connecting?.catch(() => undefined)) === connection) connecting = undefined;
    await connection.close();
  };

  const attemptCall = async (name: string, input: unknown, signal: AbortSignal): Promise<ToolResult> => {
    const connection = await connected();
    try {
      const result = await connection.client.callTool(
        { name, arguments: input as Record<string, unknown> },
        undefined,
        { signal, timeout: settings.callTimeoutMs },
      );
      return toResult(result);
    } catch (error) {
      if (!isAnswer(error) && !signal.aborted) await drop(connection);
      throw error;
    }
  };

  return {
    async tools() {
      try {
        return getOffers(options, await (await connected()).tools());
      } catch {
        return [];
      }
    },

    async call(name, input, signal) {
      if (typeof input !== 'object' || input === null || Array.isArray(input)) {
        return { content: 'The arguments have to be an object.', isError: true };
      }
      try {
        try {
          return await attemptCall(name, input, signal);
        } catch (error) {
          // The server has lost the session and has executed nothing: only this failure can be retried.
          if (!isForgotten(error)) throw error;
          return await attemptCall(name, input, signal);
        }
      } catch (error) {
        if (!signal.aborted) report(error);
        return { content: failureText(error), isError: true };
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

/** The server has rejected the call; the connection is intact. */
function isAnswer(error: unknown): boolean {
  return error instanceof McpError && error.code !== ErrorCode.ConnectionClosed;
}

function isForgotten(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 404;
}

function failureText(error: unknown): string {
  if (error instanceof McpError) {
    if (error.code === ErrorCode.RequestTimeout) return 'The tool did not answer in time.';
    if (error.code === ErrorCode.InvalidParams) return 'The tool server refused the arguments.';
  }
  return 'The tool server could not do this.';
}
