/** One pixel. */
export const SAMPLE_PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** The beginning of a frame of MPEG layer III, and silence. */
export const SAMPLE_MP3 = Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0x00]), Buffer.alloc(413)]);

/** The first box of an MP4, and an empty one for its media data. */
export const SAMPLE_MP4 = Buffer.from('000000146674797069736f6d0000000069736f6d000000086d646174', 'hex');
