import { plainTextExtractor } from '../features/data-lakes/plain-text.ts';
import { createDocumentReader, DEFAULT_DOCUMENT_SETTINGS } from '../features/files/documents.ts';
import { createFileLibrary } from '../features/files/library.ts';
import { createLocalModerator } from '../features/files/moderation/local.ts';
import { createObjectLinks } from '../features/files/objects-links.ts';
import { createFilesReader } from '../features/files/reader.ts';
import { getFileSettings } from '../features/files/settings.ts';
import { watchUploads } from '../features/files/uploads.ts';
import { createMemoryObjects } from '../memory/objects.ts';
import type { Ports } from './ports.ts';
import type { BaseServices } from './services.ts';
import type { Settings } from './settings.ts';

type Wiring = Pick<BaseServices, 'store' | 'queue' | 'clock' | 'ids' | 'adminSettings' | 'onError'> & {
  /** Signs the links of objects. */
  readonly secret: Uint8Array;
};

/** Creates the services of files, their objects and their text. */
export function wireFiles(
  { secret, ...wiring }: Wiring,
  ports: Pick<Ports, 'objects' | 'moderator' | 'extractors'>,
  settings: Pick<Settings, 'files' | 'documents' | 'publicUrl'>,
) {
  const { store, queue, clock, onError } = wiring;
  const objects = ports.objects ?? createMemoryObjects();
  const objectLinks = createObjectLinks({ objects, secret, publicUrl: settings.publicUrl });
  const fileSettings = getFileSettings(settings.files);
  const moderator = ports.moderator === undefined ? createLocalModerator() : ports.moderator;
  const { storageQuota } = fileSettings;
  const library = createFileLibrary({ ...wiring, moderator, objects, objectLinks, storageQuota });
  const extractors = [...(ports.extractors ?? []), plainTextExtractor];
  const documents = createDocumentReader({
    store,
    clock,
    extractors,
    plainText: plainTextExtractor,
    settings: { ...DEFAULT_DOCUMENT_SETTINGS, ...settings.documents },
  });
  return {
    objects,
    objectLinks,
    moderator,
    uploadWatches: [watchUploads({ store, queue })],
    library,
    files: createFilesReader({ store, library, documents, onError }),
    extractors,
    documents,
    fileSettings,
  } satisfies Partial<BaseServices>;
}
