import type { AnswerBody } from './answers.ts';
import { type ChatApp, type ChatAppOptions, createChatApp, type JsonAnswer, type Quest } from './chat.ts';
import { createStudio, type Studio } from './media.ts';

type ImagePath = '/api/v1/image-generations' | '/api/v1/image-edits';

export interface ImageApp extends ChatApp {
  readonly studio: Studio;
  draw(body?: object, path?: ImagePath): Promise<JsonAnswer<AnswerBody<'POST', ImagePath>>>;
  /** Requests an image, runs all jobs and returns the quest. */
  drawn(body?: object, path?: ImagePath): Promise<Quest>;
  addFile(mimeType: string, content?: string): Promise<string>;
}

/** An app with a model of images and a running worker. */
export async function createImageApp(
  studio: Studio = createStudio(),
  options: Partial<ChatAppOptions> = {},
): Promise<ImageApp> {
  const app = await createChatApp({ models: [studio], ...options });
  const draw: ImageApp['draw'] = (body = {}, path = '/api/v1/image-generations') =>
    app.json('POST', path, { body: { prompt: 'A red panda', model: 'painter', ...body } });
  return {
    ...app,
    studio,
    draw,
    async drawn(body, path) {
      const { id } = (await draw(body, path)).body;
      await app.settle();
      return app.poll(id);
    },
    async addFile(mimeType, content = 'a file') {
      const made = { name: 'file', mimeType, content: Buffer.from(content) };
      const { file } = await app.services.library.save(app.user.id, made);
      if (file === undefined) throw new Error('the file is not stored');
      return file.id;
    },
  };
}

/** The credits that the first user has spent. */
export const spentBy = async (app: ChatApp): Promise<number> =>
  1000 - (await app.ledger.balance(app.account)).available / 1e6;
