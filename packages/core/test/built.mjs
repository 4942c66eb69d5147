/** Every entry point of the build exports what its source exports, as either kind of module, and stack traces name the sources. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const { exports } = require('../package.json');

for (const [path, targets] of Object.entries(exports)) {
  if (path === './package.json') continue;
  const name = `@questline/core${path.slice(1)}`;
  const source = await import(new URL(`../${targets['@questline/source']}`, import.meta.url));
  const expected = Object.keys(source).sort();
  const builds = { import: await import(name), require: require(name) };
  for (const [kind, built] of Object.entries(builds))
    assert.deepEqual(Object.keys(built).sort(), expected, `${kind} ${name}`);
}

const cwd = fileURLToPath(new URL('.', import.meta.url));
const loads = {
  module: "import { createServices } from '@questline/core';",
  commonjs: "const { createServices } = require('@questline/core');",
};
for (const [type, load] of Object.entries(loads)) {
  const code = `${load} try { createServices({}, {}); } catch (error) { console.log(error.stack); }`;
  const args = ['--enable-source-maps', `--input-type=${type}`, '--eval', code];
  const stack = execFileSync(process.execPath, args, { cwd, encoding: 'utf8' });
  assert.match(stack, /core\/src\/app\/create-services\.ts:\d+/, type);
}
