import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import type { Mutant } from './instrument.ts';

/** Whether a file still compiles with a change. A change that does not is found by `npm run check:types`. */
export type TypeCheck = (mutant: Mutant) => boolean;

/** Declarations that a change leaves without use are no error. */
const OPTIONS: ts.CompilerOptions = { noUnusedLocals: false, noUnusedParameters: false, noEmit: true };

export function createTypeCheck(root: string): TypeCheck {
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile).config,
    ts.sys,
    root,
    OPTIONS,
  );
  let current = { file: '', text: '', version: 0 };
  const service = ts.createLanguageService({
    getCompilationSettings: () => options,
    getCurrentDirectory: () => root,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    getScriptFileNames: () => [current.file],
    getScriptVersion: (file) => (file === current.file ? `changed ${current.version}` : 'stored'),
    getScriptSnapshot(file) {
      const text = file === current.file ? current.text : ts.sys.readFile(file);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
    readDirectory: ts.sys.readDirectory,
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
  });

  return ({ file, start, end, text }) => {
    const path = join(root, file);
    const source = readFileSync(path, 'utf8');
    current = {
      file: path,
      text: source.slice(0, start) + text + source.slice(end),
      version: current.version + 1,
    };
    return service.getSyntacticDiagnostics(path).length + service.getSemanticDiagnostics(path).length === 0;
  };
}
