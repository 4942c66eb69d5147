type Json = Readonly<Record<string, unknown>>;

interface Block extends Json {
  readonly type?: string;
}

interface MessageBody extends Json {
  readonly model?: string;
  readonly max_tokens?: number;
  readonly system?: readonly Block[];
  readonly messages?: readonly { readonly role?: string; readonly content?: readonly Block[] }[];
  readonly tools?: readonly Json[];
  readonly tool_choice?: { readonly type?: string };
  readonly thinking?: { readonly type?: string; readonly budget_tokens?: number };
}

const MAX_BREAKPOINTS = 4;
const MIN_BUDGET = 1024;

/**
 * The validation of the messages API with its messages. @returns the error, or undefined for a valid request.
 * @see https://platform.claude.com/docs/en/api/messages
 */
export function refusedByAnthropic(sent: unknown): string | undefined {
  if (typeof sent !== 'object' || sent === null) return undefined;
  const body = sent as MessageBody;
  const { messages = [], tools = [], system = [], thinking } = body;
  const blocks = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
  const usesTools = blocks.some(({ type }) => type === 'tool_use' || type === 'tool_result');
  if (usesTools && tools.length === 0) {
    return 'Requests which include `tool_use` or `tool_result` blocks must define tools.';
  }
  if (messages[0]?.role !== 'user') return 'messages: first message must use the "user" role';
  const marks = [...tools, ...system, ...blocks].filter((block) => 'cache_control' in block).length;
  if (marks > MAX_BREAKPOINTS) {
    return `A maximum of ${MAX_BREAKPOINTS} blocks with cache_control may be provided. Found ${marks}.`;
  }
  if (body.tool_choice !== undefined && tools.length === 0)
    return 'tool_choice may only be specified while providing tools.';
  const forces = body.tool_choice?.type === 'any' || body.tool_choice?.type === 'tool';
  if (forces && thinking?.type === 'enabled')
    return 'Thinking may not be enabled when tool_choice forces tool use.';
  const budget = thinking?.budget_tokens;
  if (budget !== undefined && budget < MIN_BUDGET) {
    return `thinking.enabled.budget_tokens: Input should be greater than or equal to ${MIN_BUDGET}`;
  }
  if (budget !== undefined && budget >= (body.max_tokens ?? 0)) {
    return '`max_tokens` must be greater than `thinking.budget_tokens`.';
  }
  if (/claude-[a-z]+-5/.test(body.model ?? '')) {
    const named = ['temperature', 'top_p', 'top_k'].find((name) => name in body);
    if (named !== undefined) return `\`${named}\` is deprecated for this model.`;
  }
  if ('temperature' in body && 'top_p' in body) {
    return '`temperature` and `top_p` cannot both be specified for this model. Please use only one.';
  }
  return undefined;
}
