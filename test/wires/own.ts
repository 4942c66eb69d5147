import { findLake, findSession, signIn, whileWorking, workJob } from './app.ts';
import { vendorOperations } from './vendor-operation.ts';
import type {
  GuardedApp,
  GuardedWire,
  Outcome,
  Refusals,
  ServedOperation,
  WireOperation,
  WireRequest,
} from './wire.ts';

const operation = vendorOperations('', (text) => {
  const { errorCode, error, code } = JSON.parse(text);
  return errorCode ?? code ?? error?.code ?? null;
});

/** Reads the result of accepted work. A failure of the work counts as a failure of the request. */
async function readResult({ app, credential }: WireRequest, accepted: Outcome): Promise<Outcome> {
  if (accepted.status >= 300) return accepted;
  const { poll_url: pollUrl, check_status_url: statusUrl } = JSON.parse(accepted.text).tracking_info;
  const body = await workJob(app, pollUrl ?? statusUrl, await signIn(app, credential));
  if (body.type !== 'error' && body.status !== 'failed') return accepted;
  const text = String(body.reply ?? body.error);
  return { ...accepted, status: 422, name: body.errorCode ?? findName(text), text };
}

/** Agent runs have no codes. */
function findName(text: string): string | null {
  if (/spend cap/i.test(text)) return 'spend_cap_exceeded';
  if (/budget/i.test(text)) return 'budget_exceeded';
  return /credits/i.test(text) ? 'insufficient_credits' : null;
}

/** Work that runs after its request. */
function job(one: WireOperation): WireOperation {
  return { ...one, send: async (request) => readResult(request, await one.send(request)) };
}

const VIDEOS = '/api/v1/video-generations';

/** A video, which is held at its request and made later. */
function generation(one: WireOperation): WireOperation {
  return {
    ...one,
    async send(request) {
      const outcome = await one.send(request);
      if (outcome.status >= 300) return outcome;
      const { id } = JSON.parse(outcome.text);
      await workJob(request.app, `${VIDEOS}/${id}`, await signIn(request.app, request.credential));
      return outcome;
    },
  };
}

/** A reply with the failure of a turn, as a failure of the request. */
function turn(one: WireOperation): WireOperation {
  return {
    ...one,
    async send(request) {
      const outcome = await whileWorking(request.app, one.send(request));
      if (outcome.status !== 200) return outcome;
      const { type, errorCode, response } = JSON.parse(outcome.text);
      return type === 'error' ? { ...outcome, status: 422, name: errorCode, text: response } : outcome;
    },
  };
}

const REFUSALS: Refusals = {
  credential: { status: 401 },
  twoKeys: { status: 401 },
  scope: { status: 403 },
  window: { status: 429 },
  credit: { status: 422, name: 'insufficient_credits' },
  cap: { status: 422, name: 'spend_cap_exceeded' },
  budget: { status: 422, name: 'budget_exceeded' },
  daily: { status: 429, text: /Daily limit/ },
  hiddenModel: {},
  listedModel: {},
  file: {},
  // 405 where another method of the path stays.
  switchedOff: { text: /^\{\}$|Unknown path|not allowed/ },
  reusedKey: { status: 422, name: 'idempotency_key_reused' },
  shutdown: { status: 503 },
};

/** An operation in a session of its caller. */
function inSession(one: WireOperation): WireOperation {
  return {
    ...one,
    async send(request) {
      const { app, credential } = request;
      const token = credential === null ? await app.token() : await signIn(app, credential);
      return one.send({ ...request, subject: await findSession(app, token) });
    },
  };
}

const AT_ONCE = { none: 'the specification has it for jobs only' } as const;

const upload = operation({
  id: 'createTranscriptionUpload',
  method: 'POST',
  path: '/api/v1/transcriptions/uploads',
  repeat: AT_ONCE,
  body: () => ({ mime_type: 'audio/mpeg', file_size: 1000 }),
});

const transcribe = operation({
  id: 'createTranscription',
  method: 'POST',
  path: '/api/v1/transcriptions',
  repeat: AT_ONCE,
  body: ({ subject }) => ({ file_key: subject }),
});

/** The reference: every operation of the API that another wire has in its own form, as far as it is paid. */
export const OWN: GuardedWire = {
  name: 'API',
  mountPath: '',
  package: 'core',
  createApi: ({ api }) => api,
  list: async (app) => listOwn(app, (id) => PAID.includes(id)),
  operations: [
    operation({
      id: 'createCompletion',
      method: 'POST',
      path: '/api/ai/v1/completions',
      repeat: 'replayed',
      body: ({ text }) => ({ model: 'scripted', messages: [{ role: 'user', content: text }] }),
    }),
    operation({
      id: 'createEmbeddings',
      method: 'POST',
      path: '/api/v1/embeddings',
      repeat: AT_ONCE,
      body: ({ text }) => ({ model: 'vectors', input: text }),
    }),
    operation({
      id: 'synthesizeSpeech',
      method: 'POST',
      path: '/api/ai/tts',
      repeat: AT_ONCE,
      body: ({ text }) => ({ model: 'reader', text: text.repeat(100), encoding: 'base64', preview: true }),
    }),
    {
      ...transcribe,
      async send(request) {
        const announced = await upload.send(request);
        if (announced.status !== 201) return announced;
        const { upload_url: url, upload_fields: fields, file_key: subject } = JSON.parse(announced.text);
        const form = new FormData();
        for (const [name, value] of Object.entries(fields)) form.set(name, String(value));
        form.set('file', new Blob(['x'.repeat(1000)], { type: 'audio/mpeg' }));
        await request.handle(
          new Request(new URL(url, 'http://questline.test'), { method: 'POST', body: form }),
        );
        return transcribe.send({ ...request, subject });
      },
    },
    job(
      operation({
        id: 'generateImage',
        method: 'POST',
        path: '/api/v1/image-generations',
        repeat: 'replayed',
        body: ({ text }) => ({ model: 'painter', prompt: text }),
      }),
    ),
    inSession(
      job(
        operation({
          id: 'editImage',
          method: 'POST',
          path: '/api/v1/image-edits',
          repeat: 'replayed',
          file: 'input',
          body: ({ text, subject, fileId }) => ({
            model: 'painter',
            prompt: text,
            sessionId: subject,
            image: fileId ?? 'https://images.example.com/a.png',
          }),
        }),
      ),
    ),
    inSession(
      job(
        operation({
          id: 'startAgentExecution',
          method: 'POST',
          path: '/api/v1/agent-executions',
          repeat: 'replayed',
          file: 'input',
          body: ({ text, subject, fileId }) => ({
            session_id: subject,
            message: text,
            ...(fileId !== undefined && { file_ids: [fileId] }),
          }),
        }),
      ),
    ),
    generation(
      operation({
        id: 'createVideoGeneration',
        method: 'POST',
        path: VIDEOS,
        repeat: 'replayed',
        body: ({ text }) => ({ model: 'director', prompt: text, duration_seconds: 4 }),
      }),
    ),
    operation({
      id: 'searchDataLake',
      usesServerModel: true,
      method: 'POST',
      path: '/api/v1/data-lakes/{subject}/search',
      repeat: AT_ONCE,
      prepare: findLake,
      body: ({ text }) => ({ query: text }),
    }),
    turn(
      operation({
        id: 'sendChatMessage',
        method: 'POST',
        path: '/api/chat',
        repeat: 'replayed',
        file: 'input',
        body: ({ text, fileId }) => ({
          message: text,
          wait: true,
          newConversation: true,
          ...(fileId !== undefined && { fileIds: [fileId] }),
        }),
      }),
    ),
  ],
  refusals: REFUSALS,
  remainingHeader: 'x-ratelimit-remaining-minute',
  forbidsRetries: false,
};

const PAID = OWN.operations.map(({ id }) => id);

/** `useChat` at its own address. */
export const UI_CHAT: GuardedWire = {
  ...OWN,
  name: 'useChat',
  list: async (app) => listOwn(app, (id) => UI.includes(id)),
  refusals: {
    ...REFUSALS,
    credit: { text: /credit/i },
    cap: { text: /cap/i },
    budget: { text: /budget/i },
  },
  operations: [
    {
      ...operation({
        id: 'sendChatMessage',
        method: 'POST',
        path: '/api/chat',
        repeat: 'replayed',
        file: 'input',
        body: ({ text, fileId, subject }) => ({
          id: subject,
          messages: [{ id: 'u', role: 'user', parts: [{ type: 'text', text }] }],
          ...(fileId !== undefined && { fileIds: [fileId] }),
        }),
      }),
    },
    operation({
      id: 'resumeUiChat',
      method: 'GET',
      path: '/api/chat/any/stream',
      repeat: { none: 'free, and writes nothing' },
    }),
    operation({
      id: 'stopUiChat',
      method: 'POST',
      path: '/api/chat/any/stop',
      repeat: { none: 'stopping twice is stopping once' },
    }),
  ].map(stream),
};

const UI = UI_CHAT.operations.map(({ id }) => id);

/** An `error` chunk of a stream, as a failure of the request. */
function stream(one: WireOperation): WireOperation {
  return {
    ...one,
    async send(request) {
      const subject = request.credential ?? 'none';
      const outcome = await whileWorking(request.app, one.send({ ...request, subject: subject.slice(-24) }));
      const [, text] = /"errorText":("(?:[^"\\]|\\.)*")/.exec(outcome.text) ?? [];
      if (outcome.status !== 200 || text === undefined) return outcome;
      return { ...outcome, status: 422, text: JSON.parse(text) };
    },
  };
}

async function listOwn({ api }: GuardedApp, isListed: (id: string) => boolean): Promise<ServedOperation[]> {
  return api.routes.flatMap(({ operation: { id, paid, idempotent, scopes } }) =>
    isListed(id)
      ? [
          {
            id,
            counterpart: id,
            isPaid: paid === true,
            isIdempotent: idempotent === true,
            needsScope: scopes.length > 0,
          },
        ]
      : [],
  );
}
