import { USERS } from '@questline/core';
import { filledLake } from '../support/lakes.ts';
import {
  MAKERS,
  makeArtifact,
  makeFile,
  makeOrganization,
  makeProject,
  makeSession,
} from '../support/owned-resources.ts';
import { addOrganization } from '../support/people.ts';
import { adminToken } from '../support/sign-in.ts';
import type { TestApp } from '../support/test-app.ts';
import type { Asked, Wire } from '../support/wire.ts';
import { createPicture, createZoe } from './things.ts';

type Values = readonly unknown[];
/** Values that cannot be generated. Everything that they refer to is created. */
type Arrange = (app: TestApp, wire: Wire, asked: Asked) => Promise<Values> | Values;

/** The next page of the list that is asked for, and of its first entry. */
const nextPage: Arrange = async (_app, wire, asked) => {
  const separator = asked.path.includes('?') ? '&' : '?';
  const { body, text } = await wire.send({ ...asked, path: `${asked.path}${separator}limit=1` });
  const cursor = (body as { next_cursor?: unknown }).next_cursor;
  return [cursor ?? /"cursor":"([^"]+)"/.exec(text)?.[1]];
};
const firstLine: Arrange = async (_app, wire, asked) => {
  const { text } = await wire.send(asked);
  return [/"cursor":"([^"]+)"/.exec(text)?.[1] ?? text.split('\n')[1]?.split(',')[0]];
};
/** An organization of the user that can pay. */
const payer: Arrange = async (app) => {
  const { id } = await addOrganization(app);
  await app.ledger.grant({ account: `organization:${id}`, amount: 1e9, key: id, reason: 'start' });
  return [id];
};
const one =
  (make: (app: TestApp) => Promise<string>): Arrange =>
  async (app) => [await make(app)];
const list =
  (make: (app: TestApp) => Promise<string>): Arrange =>
  async (app) => [[await make(app)]];
const own =
  (make: (app: TestApp, owner: TestApp['user']) => Promise<string>) =>
  (app: TestApp): Promise<string> =>
    make(app, app.user);
const constant =
  (...values: Values): Arrange =>
  () =>
    values;

/** A user that the setup has added. */
const user =
  (email: string): Arrange =>
  async ({ services: { store } }) => {
    const [found] = await store.collection(USERS).find({ email }, { limit: 1 });
    return [found?.id];
  };
/** The other user of an organization, or of a shared resource. */
const guest = user('eve@example.com');
/** An invite for registration that gives credits. */
async function invite(app: TestApp): Promise<{ readonly _id: string; readonly code: string } | undefined> {
  const credential = await adminToken(app);
  const body = { multiple: 1, startingCredits: 50 };
  const answer = await app.ask('POST', '/api/reg-invites/create', { credential, body });
  const { invites } = (await answer.json()) as { invites: readonly { _id: string; code: string }[] };
  return invites[0];
}
const invites: Arrange = async (app) => [[(await invite(app))?._id]];
const inviteCodes: Arrange = async (app) => [(await invite(app))?.code];
const file = own(makeFile);
const session = own(makeSession);
const KEY_MODELS = constant(['scripted'], ['other']);
const GROUPS = constant('model', 'day', 'operation');
const PNG = `data:image/png;base64,${Buffer.from('an image').toString('base64')}`;

/** Values by `operation path`, or by the name of the field. */
export const VALUES: Readonly<Record<string, Arrange>> = {
  cursor: nextPage,
  after: constant('end', '1', '0'),
  sessionId: one(session),
  session_id: one(session),
  organizationId: payer,
  organization_id: payer,
  projectId: one(own(makeProject)),
  project_id: one(own(makeProject)),
  knowledgeIds: list(file),
  fileIds: list(file),
  file_ids: list(file),
  session_file_ids: list(file),
  session_ids: list(session),
  artifactIds: list(own(makeArtifact)),
  agentIds: list(createZoe),
  agentId: one(createZoe),
  agent_id: one(createZoe),
  dataLakeId: one(async (app) => (await filledLake(app, { 'zebras.txt': 'Zebras sleep standing.' })).lakeId),
  referenceImageFileIds: list(createPicture),
  input_image_file_id: one(createPicture),
  group_by: GROUPS,
  languageCode: constant('de'),
  timeZone: constant('Europe/Berlin'),
  url: constant('https://other.example.com/in'),
  'sendSignInCode email': constant('eve@example.com'),
  'verifySignInCode email': constant('eve@example.com'),
  ...Object.fromEntries(
    ['Project', 'Session', 'File', 'Agent', 'Artifact', 'Organization'].flatMap((kind) => [
      [`create${kind}Invite email`, constant('eve@example.com')],
      [`revoke${kind}Sharing userId`, guest],
    ]),
  ),
  enabledTools: constant(['send_mail'], ['dice_roll']),
  disabledTools: constant(['dice_roll']),
  'exportCredits cursor': firstLine,
  'exportOrganizationCredits cursor': firstLine,
  'exportWorkspaceCredits cursor': firstLine,
  'sendChatMessage model': constant('other'),
  'createCompletion model': constant('other'),
  'infer model': constant('other'),
  'startAgentExecution model': constant('other'),
  'createEmbeddings model': constant('demo-embedding'),
  'generateImage model': constant('other-painter'),
  'editImage model': constant('other-painter'),
  'editImage image': one(createPicture),
  'generateImage size': constant('256x256'),
  'editImage size': constant('256x256'),
  'generateImage width': constant(256),
  'generateImage height': constant(256),
  'editImage width': constant(256),
  'editImage height': constant(256),
  'generateImage fileIds': list(createPicture),
  'editImage fileIds': list(createPicture),
  'generateImage aspect_ratio': constant('16:9'),
  'editImage aspect_ratio': constant('16:9'),
  'synthesizeSpeech model': constant('other-reader'),
  'generateMusic modelId': constant('other-band'),
  'synthesizeSpeech provider': constant('second'),
  'generateMusic provider': constant('second'),
  'generateSoundEffect provider': constant('second'),
  'generateMusic lengthMs': constant(20_000),
  'createVideoGeneration model': constant('other-director'),
  'createVideoGeneration duration_seconds': constant(4),
  'createMusicGeneration model': constant('other-composer'),
  'createCompletion messages': constant([{ role: 'user', content: 'zebra' }]),
  'infer messages': constant([{ role: 'user', content: 'zebra' }]),
  'createCompletion messages[].content(array)[](image_url).image_url.url': constant(PNG),
  'createCompletion messages[].content(array)[](input_image).image_url': constant(PNG),
  'createCompletion messages[].content(array)[](tool_result).tool_use_id': constant('call_2'),
  'createCompletion toolChoice(object).name': constant('touch'),
  'createCompletion tool_choice(object).name': constant('touch'),
  'createCompletion options.toolChoice(object).name': constant('touch'),
  'createCompletion options.tool_choice(object).name': constant('touch'),
  'createFileUpload mime_type': constant('text/markdown'),
  'createApiKey scopes': constant(['me:read']),
  'createApiKey models': KEY_MODELS,
  'createBudget models': KEY_MODELS,
  'updateOrganization models': KEY_MODELS,
  'transferOrganization userId': guest,
  'listBudgets scopeId': user('bob@example.com'),
  'transcribeAtOnce file': (_app, _wire, { body }) => [String(body).replace('wave', 'tone')],
  inviteCode: inviteCodes,
  avatarUrl: constant('https://example.com/zebra.png'),
  'updateAdminSetting value': constant(false),
  'deleteRegistrationInvites ids': invites,
  'createBudget scope': constant('everyone'),
  'createBudget scopeId': one(own(async (app, owner) => (await MAKERS['user-api-keys']?.(app, owner)) ?? '')),
  'listWebhooks organizationId': one(own(makeOrganization)),
  'executeTool (web_fetch).input.url': constant('https://other.example'),
  'decideQuestCalls decisions[](edit).input': constant({ to: 'ida@example.com' }),
  'decideQuestCalls decisions[](answer).output': constant('There'),
  'decideQuestCalls decisions': constant([{ callId: '1.0', decision: 'reject' }]),
};

/**
 * The status of other values of fields that name a secret or a known thing: the request with the right value
 * succeeds.
 */
export const EXPECTED_REFUSALS: Readonly<Record<string, number>> = {
  'approveAgent updatedAt': 409,
  'createTranscription file_key': 404,
  'createVideoGeneration mode': 422,
  'detachSessionAgent agentId': 409,
  'decideQuestCalls decisions[](approve).callId': 400,
  'decideQuestCalls decisions[](reject).callId': 400,
  'decideQuestCalls decisions[](edit).callId': 400,
  'decideQuestCalls decisions[](answer).callId': 400,
  'describeDeviceLogin user_code': 404,
  'pollDeviceLogin client_id': 400,
  'pollDeviceLogin device_code': 400,
  'renewDeviceTokens refresh_token': 401,
  'refreshTokens refreshToken': 401,
  'refreshTokens refresh_token': 401,
  'refreshTokens token': 401,
  'verifyDeviceLogin user_code': 404,
  'verifySignInCode code': 422,
  'verifySignInCode email': 422,
  'verifySignInCode pendingToken': 422,
};
