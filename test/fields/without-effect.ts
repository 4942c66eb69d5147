/** Fields that change nothing at all, each with its reason, by `operation path`. */
export const WITHOUT_EFFECT: Readonly<Record<string, string>> = {
  'cloneSession targetSurface': 'accepted for compatibility, described as ignored',
  'createCompletion options.stream': 'accepted for compatibility, described as ignored: the answer streams',
  'createCompletion stream': 'accepted for compatibility, described as ignored: the answer streams',
  'infer stream': 'accepted for compatibility, described as ignored: the answer is complete',
  'renewDeviceTokens client_id':
    'required by RFC 6749; tokens are not bound to public clients, by docs/decisions/device-login.md',
  'sendChatMessage stream': 'accepted for compatibility: only the bodies of `useChat` stream',
  'logAnalyticsEvent event': 'telemetry: stored for the host, and no operation reads it',
  'logAnalyticsEvent properties': 'telemetry: stored for the host, and no operation reads it',
};

const FILTER = 'filters or cuts the results after the embedding of the query';
const FORM = 'the form of the answer, not of the work';
const MEMBER = 'chooses who pays';

/** Fields that do not reach a provider although their operation calls one, each with its reason. */
export const NOT_SENT: Readonly<Record<string, string>> = {
  'createCompletion store': 'keeps the answer for later readers',
  'createEmbeddings encoding_format': FORM,
  'editImage projectId': 'puts the image into a project',
  'generateImage projectId': 'puts the image into a project',
  'generateMusic encoding': FORM,
  'generateMusic preview': 'the audio is not stored',
  'generateSoundEffect encoding': FORM,
  'generateSoundEffect preview': 'the audio is not stored',
  'searchDataLake min_score': FILTER,
  'searchDataLake tags': FILTER,
  'searchDataLake top_k': FILTER,
  'searchSessions limit': FILTER,
  'searchSessions minSimilarity': FILTER,
  'startAgentExecution approvals': 'a call that needs approval waits instead of ending the run',
  'startAgentExecution organization_id': MEMBER,
  'synthesizeSpeech encoding': FORM,
  'synthesizeSpeech preview': 'the audio is not stored',
};
