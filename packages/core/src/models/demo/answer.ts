import { promptSize } from '../../credits/estimates.ts';
import type {
  FinishReason,
  GenerateRequest,
  ModelContent,
  ModelMessage,
  ModelPart,
  ToolSchema,
} from '../../ports/models.ts';
import { countCharacters } from '../../shared/characters.ts';
import { isContext } from '../turn-context.ts';
import { splitWords } from './embedding.ts';
import { makeExample } from './example.ts';

const charactersPerToken = 4;
const tokensPerImage = 300;

/** Yields the answer of a demo model, in parts. */
export function composeAnswer(request: GenerateRequest): ModelPart[] {
  const last = request.messages.findLast((message) => message.role === 'user');
  const question = getText(last, (text) => !isContext(text));
  const calls = callsFor(request, last, question);
  const reasoning = thoughts(request, calls);
  let budget = request.maxTokens;

  const parts: ModelPart[] = [];
  const thought = cut(reasoning, Math.min(budget, request.thinking?.budgetTokens ?? budget));
  if (thought !== '') {
    for (const text of pieces(thought)) parts.push({ type: 'thinking_delta', text });
    parts.push({ type: 'thinking', block: { type: 'thinking', thinking: thought } });
    budget -= tokenize(thought);
  }
  const answer =
    calls.length > 0 ? `I use ${getNames(calls)}.` : untilStop(say(request, last, question), request.stop);
  const text = cut(answer, budget);
  for (const piece of pieces(text)) parts.push({ type: 'text', text: piece });
  const complete = text === answer;
  let output = tokenize(text);
  if (complete) {
    for (const [index, call] of calls.entries()) {
      const { id, name } = call;
      parts.push({ type: 'tool_use_delta', index, id, name, arguments: '' });
      parts.push({ type: 'tool_use_delta', index, arguments: call.arguments });
      parts.push(call);
      output += tokenize(call.name + call.arguments);
    }
  }
  const size = promptSize(request);
  const input = Math.max(1, Math.ceil(size.characters / charactersPerToken) + size.images * tokensPerImage);
  parts.push({
    type: 'usage',
    usage: { input, output, ...(thought !== '' && { reasoning: tokenize(thought) }) },
  });
  const reason: FinishReason = complete ? (calls.length > 0 ? 'tool_use' : 'stop') : 'max_tokens';
  parts.push({ type: 'finish', reason });
  return parts;
}

type ToolCall = Extract<ModelPart, { type: 'tool_use' }>;

/** Returns the tools that the message names, else the tool whose name shares the most words with it. */
function callsFor(request: GenerateRequest, last: ModelMessage | undefined, question: string): ToolCall[] {
  const { tools = [], toolChoice = 'auto' } = request;
  if (request.model === 'demo-echo' || toolChoice === 'none') return [];
  const mustCall = toolChoice !== 'auto';
  if (!mustCall && toResults(last).length > 0) return [];
  let wanted = tools.filter((tool) => tool.name.length > 2 && question.includes(tool.name));
  if (wanted.length === 0) {
    const words = new Set(splitWords(question));
    let best = 0;
    for (const tool of tools) {
      const score = nameWords(tool).filter((word) => words.has(word)).length;
      if (score <= best) continue;
      best = score;
      wanted = [tool];
    }
  }
  if (typeof toolChoice === 'object') wanted = tools.filter(({ name }) => name === toolChoice.name);
  else if (mustCall && wanted.length === 0) wanted = tools.slice(0, 1);
  if (request.parallelToolCalls === false) wanted = wanted.slice(0, 1);
  const earlier = request.messages.flatMap((message) => message.content);
  const made = earlier.filter((content) => content.type === 'tool_use').length;
  return wanted.map((tool, index) => ({
    type: 'tool_use',
    id: `demo_call_${made + index + 1}`,
    name: tool.name,
    arguments: JSON.stringify(makeExample(tool.parameters, question)),
  }));
}

const emptyWords = new Set(['get', 'set', 'use', 'the', 'info', 'tool', 'list', 'data', 'run', 'for']);

function nameWords(tool: ToolSchema): string[] {
  const words = splitWords(tool.name.replace(/([a-z])([A-Z])/g, '$1 $2').replace(/_/g, ' '));
  return words.filter((word) => word.length > 2 && !emptyWords.has(word));
}

function thoughts(request: GenerateRequest, calls: readonly ToolCall[]): string {
  if (request.model === 'demo-echo') return '';
  if (request.thinking === undefined && request.reasoningEffort === undefined) return '';
  const plan = calls.length > 0 ? `It asks for ${getNames(calls)}.` : 'No tool is needed for it.';
  return `I read the last message of ${count(request.messages.length, 'message')}. ${plan} I am a script, so this is all the thinking there is.`;
}

function say(request: GenerateRequest, last: ModelMessage | undefined, question: string): string {
  const format = request.responseFormat;
  if (format?.type === 'schema') return JSON.stringify(makeExample(format.schema, question));
  if (format?.type === 'json') return JSON.stringify({ model: request.model, offline: true, question });
  if (request.model === 'demo-echo') return question;

  const paragraphs = toResults(last).map((result) => {
    const outcome = result.isError ? 'failed' : 'answered';
    return `The tool ${result.toolName} ${outcome}:\n\n${cut(result.content, 500)}`;
  });
  const seen = getAttachments(last);
  if (seen.length > 0) paragraphs.push(`You sent ${seen.join(' and ')}.`);
  const limit = /\bcount (?:up )?to (\d{1,4})\b/i.exec(question)?.[1];
  if (limit !== undefined) {
    paragraphs.push(`${Array.from({ length: Math.min(Number(limit), 1000) }, (_, n) => n + 1).join(', ')}.`);
  } else if (question !== '') {
    paragraphs.push(`You asked: ${cut(question, 100)}`);
  }
  paragraphs.push(
    'I am the offline demo model: a script, not an AI, so I cannot really answer. ' +
      'Everything around me is real, though: streaming, tools, limits and credits. ' +
      'Add a provider with a key and choose one of its models to get answers.',
  );
  const tools = request.tools ?? [];
  if (tools.length > 0 && toResults(last).length === 0) {
    paragraphs.push(`I was offered ${count(tools.length, 'tool')}: ask me to use ${tools[0]?.name}.`);
  }
  return paragraphs.join('\n\n');
}

/** Truncates the answer at the first stop sequence. */
function untilStop(answer: string, stop: readonly string[] = []): string {
  const ends = stop.map((text) => answer.indexOf(text)).filter((place) => place >= 0);
  return answer.slice(0, Math.min(answer.length, ...ends));
}

function getText(message: ModelMessage | undefined, isWanted: (text: string) => boolean): string {
  return (message?.content ?? [])
    .map((content) => (content.type === 'text' && isWanted(content.text) ? content.text : ''))
    .join('')
    .trim();
}

function toResults(message: ModelMessage | undefined) {
  return (message?.content ?? []).filter(
    (content): content is Extract<ModelContent, { type: 'tool_result' }> => content.type === 'tool_result',
  );
}

function getAttachments(message: ModelMessage | undefined): string[] {
  return (message?.content ?? []).flatMap((content) => {
    if (content.type === 'image') return `an image (${content.mediaType}, ${getSize(content.data)})`;
    if (content.type === 'document')
      return `${content.name} (${content.mediaType}, ${getSize(content.data)})`;
    return [];
  });
}

function getSize(base64: string): string {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  const bytes = Math.floor((base64.length * 3) / 4) - padding;
  return bytes < 1024 ? count(bytes, 'byte') : `${(bytes / 1024).toFixed(1)} KB`;
}

function getNames(calls: readonly ToolCall[]): string {
  return calls.map((call) => call.name).join(' and ');
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function tokenize(text: string): number {
  return Math.ceil(countCharacters(text) / charactersPerToken);
}

function cut(text: string, tokens: number): string {
  if (tokenize(text) <= tokens) return text;
  return [...text].slice(0, Math.max(0, tokens) * charactersPerToken).join('');
}

/** Splits the answer into chunks of a few words, to make streaming visible. */
function pieces(text: string): string[] {
  return text.match(/\s*(?:\S{1,24}\s*){1,3}/gu) ?? (text === '' ? [] : [text]);
}
