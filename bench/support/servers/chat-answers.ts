const id = '0'.repeat(24);

/** As long as the chat's responses, so that both servers write the same number of bytes. */
export const acknowledgement = {
  id,
  status: 'queued',
  message_received: true,
  timestamp: '2026-11-21T12:00:00.000Z',
  model: 'demo-echo',
  tracking_info: {
    quest_id: id,
    check_status_url: `/api/v1/quests/${id}`,
    poll_url: `/api/v1/quests/${id}`,
  },
  sessionId: id,
};

export const finishedQuest = {
  id,
  sessionId: id,
  status: 'done',
  type: 'message',
  reply: 'Tell me a short story about a lighthouse keeper and a storm.',
  replies: ['Tell me a short story about a lighthouse keeper and a storm.'],
  images: [],
  videos: [],
  files: [],
  toolPayloads: [],
  createdAt: '2026-11-21T12:00:00.000Z',
  updatedAt: '2026-11-21T12:00:00.000Z',
  promptMeta: { model: 'demo-echo', usage: { inputTokens: 64, outputTokens: 15 }, credits: 0.0695 },
};
