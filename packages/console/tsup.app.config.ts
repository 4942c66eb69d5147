import { copyFile } from 'node:fs/promises';
import { defineConfig } from 'tsup';
import { writeNotices } from '../../scripts/notices.ts';

/** The app as browsers load it: a small first script, chunks that are loaded on demand, one style sheet, nothing from elsewhere. */
export default defineConfig({
  entry: { console: 'app/main.tsx', diagram: 'app/diagram/frame.ts' },
  format: 'esm',
  splitting: true,
  clean: true,
  target: 'es2022',
  platform: 'browser',
  outDir: 'dist/app',
  outExtension: () => ({ js: '.js' }),
  minify: true,
  noExternal: [/.*/],
  tsconfig: 'app/tsconfig.json',
  define: { 'process.env.NODE_ENV': '"production"' },
  metafile: true,
  esbuildOptions(options) {
    // The client may not be built yet.
    options.conditions = ['@questline/source'];
  },
  async onSuccess() {
    for (const file of ['index.html', 'diagram.html', 'icon.svg']) {
      await copyFile(`app/${file}`, `dist/app/${file}`);
    }
    await writeNotices('dist/app/metafile-esm.json', 'dist/app/THIRD-PARTY-NOTICES.txt');
  },
});
