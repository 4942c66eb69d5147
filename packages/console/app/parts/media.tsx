/** An image, audio or video player for a file. */
export interface Shown {
  readonly name: string;
  readonly url: string;
  readonly mimeType: string;
}

const KINDS = /^(?:image|audio|video)\//;

export function isShown(mimeType: string): boolean {
  return KINDS.test(mimeType);
}

export function MediaShown({ name, url, mimeType }: Shown) {
  const [kind] = mimeType.split('/');
  if (kind === 'image') return <img class="media" src={url} alt={name} />;
  return kind === 'audio' ? (
    // biome-ignore lint/a11y/useMediaCaption: uploaded and generated media have no captions.
    <audio class="media" src={url} controls aria-label={name} />
  ) : (
    // biome-ignore lint/a11y/useMediaCaption: uploaded and generated media have no captions.
    <video class="media" src={url} controls aria-label={name} />
  );
}
