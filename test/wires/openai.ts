import { createOpenAIApi } from '@questline/openai';
import { saveFile } from '../support/lakes.ts';
import { withVendorTypes } from '../support/vendor-types/check-wire.ts';
import { toHandler, whileWorking } from './app.ts';
import { listRoutes, vendorOperations } from './vendor-operation.ts';
import type { GuardedApp, GuardedWire, WireOperation, WireRequest } from './wire.ts';

const operation = vendorOperations('/openai/v1', (text) => JSON.parse(text).error.code);

const PICTURE = new Blob(['x'], { type: 'image/png' });

function toForm(fields: Readonly<Record<string, string | Blob>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string') form.set(name, value);
    else form.set(name, value, 'a.mp3');
  }
  return form;
}

const chat = ({ text, fileId }: WireRequest) => ({
  model: 'scripted',
  messages: [
    {
      role: 'user',
      content: fileId === undefined ? text : [{ type: 'file', file: { file_id: fileId } }],
    },
  ],
});

const NOTES = { type: 'mcp', server_label: 'notes', require_approval: 'never' };

const response = ({ text, fileId }: WireRequest) => ({
  model: 'scripted',
  store: false,
  input: fileId === undefined ? text : [{ role: 'user', content: [{ type: 'input_file', file_id: fileId }] }],
});

const FREE = { none: 'free, and writes nothing twice' } as const;

/** A response that a worker makes. */
function stored(title: string, isStreamed: boolean, tools: readonly object[] = []): WireOperation {
  const one = operation({
    id: 'createResponse',
    title,
    method: 'POST',
    path: '/responses',
    repeat: 'replayed',
    file: 'input',
    body: (request) => ({ ...response(request), store: true, stream: isStreamed, tools }),
  });
  return { ...one, send: (request) => whileWorking(request.app, one.send(request)) };
}

/** @returns the id of a stored response. */
async function createResponse(app: GuardedApp): Promise<string> {
  await app.api.start();
  const { text } = await stored('', false).send(toRequest(app));
  return JSON.parse(text).id;
}

function toRequest(app: GuardedApp): WireRequest {
  return {
    app,
    handle: toHandler(createOpenAIApi(app.services), '/openai'),
    credential: app.key,
    headers: {},
    subject: '',
    fileId: undefined,
    text: 'x',
  };
}

const items = ({ text }: WireRequest) => ({ items: [{ role: 'user', content: text }] });

const addConversation = operation({
  id: 'createConversation',
  method: 'POST',
  path: '/conversations',
  repeat: { none: 'costs nothing; as `POST /api/v1/sessions`' },
  body: items,
});

const addItem = operation({
  id: 'createConversationItems',
  method: 'POST',
  path: '/conversations/{subject}/items',
  repeat: { none: 'costs nothing; the vendor repeats it too' },
  prepare: createConversation,
  body: items,
});

/** @returns the id of a conversation with one item. */
async function createConversation(app: GuardedApp): Promise<string> {
  const { text } = await addConversation.send({ ...toRequest(app), text: 'x' });
  return JSON.parse(text).id;
}

/** An operation on one item. Its subject is the id of the conversation, a slash and the id of the item. */
function onItem(id: string, method: 'GET' | 'DELETE', none: string): WireOperation {
  const one = operation({
    id,
    title: `${method} /conversations/{id}/items/{item}`,
    method,
    path: '/conversations/{subject}',
    repeat: { none },
  });
  return {
    ...one,
    async prepare(app) {
      const subject = await createConversation(app);
      const { text } = await addItem.send({ ...toRequest(app), subject });
      return `${subject}/${JSON.parse(text).data[0].id}`;
    },
    send(request) {
      const [conversation, item = 'none'] = request.subject.split('/');
      return one.send({ ...request, subject: `${conversation}/items/${item}` });
    },
  };
}

export const OPENAI: GuardedWire = {
  name: 'OpenAI',
  mountPath: '/openai',
  package: 'openai',
  createApi: ({ services }) => withVendorTypes('openai', createOpenAIApi(services)),
  list: async ({ services }) => listRoutes(createOpenAIApi(services)),
  operations: [
    operation({
      id: 'createChatCompletion',
      method: 'POST',
      path: '/chat/completions',
      repeat: 'replayed',
      file: 'input',
      body: chat,
    }),
    operation({
      id: 'createChatCompletion',
      title: 'POST /chat/completions, streamed',
      method: 'POST',
      path: '/chat/completions',
      repeat: 'replayed',
      file: 'input',
      body: (request) => ({ ...chat(request), stream: true }),
    }),
    operation({
      id: 'createResponse',
      method: 'POST',
      path: '/responses',
      repeat: 'replayed',
      file: 'input',
      body: response,
    }),
    operation({
      id: 'createResponse',
      title: 'POST /responses, streamed',
      method: 'POST',
      path: '/responses',
      repeat: 'replayed',
      file: 'input',
      body: (request) => ({ ...response(request), stream: true }),
    }),
    operation({
      id: 'createResponse',
      title: 'POST /responses with a tool server',
      method: 'POST',
      path: '/responses',
      repeat: 'replayed',
      file: 'input',
      body: (request) => ({ ...response(request), tools: [NOTES] }),
    }),
    stored('POST /responses with a tool server, stored and streamed', true, [NOTES]),
    stored('POST /responses, stored', false),
    stored('POST /responses, stored and streamed', true),
    operation({
      id: 'getResponse',
      method: 'GET',
      path: '/responses/{subject}',
      repeat: FREE,
      prepare: createResponse,
    }),
    operation({
      id: 'cancelResponse',
      method: 'POST',
      path: '/responses/{subject}/cancel',
      repeat: { none: 'stopping twice is stopping once' },
      prepare: createResponse,
    }),
    operation({
      id: 'deleteResponse',
      unpaid: 'asks no model',
      method: 'DELETE',
      path: '/responses/{subject}',
      repeat: { none: 'deleting twice is deleting once' },
      prepare: createResponse,
    }),
    operation({
      id: 'listInputItems',
      unpaid: 'asks no model',
      method: 'GET',
      path: '/responses/{subject}/input_items',
      repeat: FREE,
      prepare: createResponse,
    }),
    addConversation,
    operation({
      id: 'getConversation',
      method: 'GET',
      path: '/conversations/{subject}',
      repeat: FREE,
      prepare: createConversation,
    }),
    operation({
      id: 'updateConversation',
      method: 'POST',
      path: '/conversations/{subject}',
      repeat: { none: 'replacing twice is replacing once' },
      prepare: createConversation,
      body: ({ text }) => ({ metadata: { text } }),
    }),
    operation({
      id: 'deleteConversation',
      method: 'DELETE',
      path: '/conversations/{subject}',
      repeat: { none: 'deleting twice is deleting once' },
      prepare: createConversation,
    }),
    operation({
      id: 'listConversationItems',
      method: 'GET',
      path: '/conversations/{subject}/items',
      repeat: FREE,
      prepare: createConversation,
    }),
    addItem,
    onItem('getConversationItem', 'GET', 'free, and writes nothing twice'),
    onItem('deleteConversationItem', 'DELETE', 'deleting twice is deleting once'),
    operation({ id: 'listOpenAIModels', method: 'GET', path: '/models', repeat: FREE, listsModels: true }),
    operation({ id: 'getOpenAIModel', method: 'GET', path: '/models/scripted', repeat: FREE }),
    operation({
      id: 'createOpenAIEmbeddings',
      method: 'POST',
      path: '/embeddings',
      repeat: 'replayed',
      body: ({ text }) => ({ model: 'vectors', input: text }),
    }),
    operation({
      id: 'createOpenAIImage',
      method: 'POST',
      path: '/images/generations',
      repeat: 'replayed',
      body: ({ text }) => ({ model: 'painter', prompt: text }),
    }),
    operation({
      id: 'editOpenAIImage',
      method: 'POST',
      path: '/images/edits',
      repeat: 'replayed',
      body: ({ text }) => toForm({ model: 'painter', prompt: text, image: PICTURE }),
    }),
    operation({
      id: 'createOpenAISpeech',
      method: 'POST',
      path: '/audio/speech',
      repeat: 'replayed',
      body: ({ text }) => ({ model: 'reader', voice: 'v', input: text.repeat(100) }),
    }),
    operation({
      id: 'createOpenAITranscription',
      method: 'POST',
      path: '/audio/transcriptions',
      repeat: 'replayed',
      body: ({ text }) => toForm({ model: 'listener', file: new Blob([text.repeat(1000)]) }),
    }),
    operation({
      id: 'createOpenAIFile',
      method: 'POST',
      path: '/files',
      repeat: { none: 'costs nothing; as `POST /api/v1/files`' },
      file: 'product',
      body: ({ text }) => toForm({ purpose: 'user_data', file: new Blob([text], { type: 'text/plain' }) }),
    }),
    operation({ id: 'listOpenAIFiles', method: 'GET', path: '/files', repeat: FREE }),
    operation({
      id: 'getOpenAIFile',
      method: 'GET',
      path: '/files/{subject}',
      repeat: FREE,
      prepare: (app) => saveFile(app, 'x'),
    }),
    operation({
      id: 'getOpenAIFileContent',
      method: 'GET',
      path: '/files/{subject}/content',
      repeat: FREE,
      file: 'subject',
      prepare: (app) => saveFile(app, 'x'),
    }),
    operation({
      id: 'deleteOpenAIFile',
      method: 'DELETE',
      path: '/files/{subject}',
      repeat: FREE,
      prepare: (app) => saveFile(app, 'x'),
    }),
  ],
  refusals: {
    credential: { status: 401, name: 'invalid_api_key' },
    twoKeys: { status: 401, name: 'invalid_api_key' },
    scope: { status: 403, name: 'insufficient_permissions' },
    window: { status: 429, name: 'rate_limit_exceeded' },
    credit: { status: 429, name: 'insufficient_quota' },
    cap: { status: 429, name: 'insufficient_quota' },
    budget: { status: 429, name: 'insufficient_quota' },
    daily: { status: 429, name: 'rate_limit_exceeded' },
    hiddenModel: { status: 404, name: 'model_not_found' },
    listedModel: { status: 400, name: 'model_not_allowed' },
    file: {},
    switchedOff: { text: /Unknown path|not allowed here/ },
    reusedKey: { status: 400, name: 'idempotency_key_reused' },
    shutdown: { status: 503, name: null },
  },
  remainingHeader: 'x-ratelimit-remaining-requests',
  forbidsRetries: true,
};
