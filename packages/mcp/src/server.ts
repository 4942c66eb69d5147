import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import type { ToolResult } from '@questline/core';
import { type Connection, connect, type Times } from './connection.ts';
import { type McpTool, offersOf } from './offers.ts';
import type { McpServerOptions } from './options.ts';
import { resultOf } from './results.ts';

export interface ServerTerms extends Times {
  /** Milliseconds a server is left alone that could not be reached. */
  readonly retryAfterMs: number;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly onError: (error: unknown, serverId: string) => void;
}

/** One tool server: connected to when it is first needed, and again when the connection was lost. */
export interface ToolServer {
  /** Its tools; none while it cannot be reached. Never rejects. */
  tools(): Promise<readonly McpTool[]>;
  /** Never rejects. */
  call(name: string, input: unknown, signal: AbortSignal): Promise<ToolResult>;
  /** Never rejects. */
  close(): Promise<void>;
}

export function createToolServer(options: McpServerOptions, terms: ServerTerms): ToolServer {
  let connecting: Promise<Connection> | undefined;
  let leftAloneUntil = 0;
  let isClosed = false;
  const report = (error: unknown): void => terms.onError(error, options.id);

  /** One connection for all who want it at once. */
  const connected = async (): Promise<Connection> => {
    const before = connecting;
    const current = await before?.catch(() => undefined);
    if (current?.isOpen === true) return current;
    if (isClosed) throw new Error('the tools are closed');
    if (terms.now() < leftAloneUntil) throw new Error('the server could not be reached a moment ago');
    // Whoever came back first has begun anew already.
    if (connecting === before) connecting = undefined;
    const attempt = connecting ?? connect(options, terms, report);
    connecting = attempt;
    try {
      return await attempt;
    } catch (error) {
      if (connecting === attempt) {
        connecting = undefined;
        leftAloneUntil = terms.now() + terms.retryAfterMs;
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
        { signal, timeout: terms.callTimeoutMs },
      );
      return resultOf(result);
    } catch (error) {
      if (!isAnswer(error) && !signal.aborted) await drop(connection);
      throw error;
    }
  };

  return {
    async tools() {
      try {
        return offersOf(options, await (await connected()).tools());
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
          // The server has forgotten us, so it has done nothing: this is the one failure that may be repeated.
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

/** The server has refused the call in words of its own; the connection is sound. */
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
