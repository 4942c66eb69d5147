import { copyFile } from 'node:fs/promises';
import { defineConfig } from 'tsup';

/** The app as browsers load it: one script, one style sheet, one page, nothing from elsewhere. */
export default defineConfig({
  entry: { console: 'app/main.tsx' },
  format: 'iife',
  target: 'es2022',
  platform: 'browser',
  outDir: 'dist/app',
  outExtension: () => ({ js: '.js' }),
  minify: true,
  noExternal: [/.*/],
  tsconfig: 'app/tsconfig.json',
  define: { 'process.env.NODE_ENV': '"production"' },
  async onSuccess() {
    for (const file of ['index.html', 'icon.svg']) await copyFile(`app/${file}`, `dist/app/${file}`);
  },
});
