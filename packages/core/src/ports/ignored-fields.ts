import type { GenerateRequest, IgnorableField, ToolSchema } from './models.ts';

const FIELDS: readonly IgnorableField[] = [
  'temperature',
  'topP',
  'topK',
  'stop',
  'seed',
  'toolChoice',
  'parallelToolCalls',
  'reasoningEffort',
  'thinking',
  'responseFormat',
];

/** Values that ask for what happens without the field: they need no place in the request of a vendor. */
const DEFAULTS: Readonly<Partial<Record<IgnorableField, unknown>>> = {
  toolChoice: 'auto',
  parallelToolCalls: true,
  reasoningEffort: 'none',
};

const OF_TOOLS: ReadonlySet<IgnorableField> = new Set(['toolChoice', 'parallelToolCalls']);

/**
 * Returns the fields of a request that do not change what is sent to the vendor: for `ModelProvider.ignores`.
 * @param toBody converts a request to the vendor's form. It gets a short conversation in place of the actual one.
 */
export function findIgnoredFields(
  request: GenerateRequest,
  toBody: (request: GenerateRequest) => unknown,
): readonly IgnorableField[] {
  const given = FIELDS.filter((field) => isAsked(request, field));
  if (given.length === 0) return [];
  const probe: GenerateRequest = {
    ...request,
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    ...(request.tools !== undefined && { tools: request.tools.map(shorten) }),
  };
  const toText = (one: GenerateRequest): string => JSON.stringify(toBody(one));
  const whole = toText(probe);
  return given.filter((field) => without(probe, field).some((one) => toText(one) === whole));
}

function isAsked(request: GenerateRequest, field: IgnorableField): boolean {
  const value = request[field];
  if (value === undefined || value === DEFAULTS[field]) return false;
  return !OF_TOOLS.has(field) || (request.tools ?? []).length > 0;
}

/** The request without the field; without each single text of `stop`, of which a vendor may take only the first. */
function without(request: GenerateRequest, field: IgnorableField): readonly GenerateRequest[] {
  const { [field]: _, ...rest } = request;
  const { stop = [] } = request;
  if (field !== 'stop' || stop.length < 2) return [rest];
  return stop.map((_text, place) => ({ ...rest, stop: stop.filter((_other, at) => at !== place) }));
}

function shorten({ name }: ToolSchema): ToolSchema {
  return { name, description: '', parameters: { type: 'object' } };
}
