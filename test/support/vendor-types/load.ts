import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** The answer types of one vendor. */
export interface AnswerTypes {
  /** @returns the type of an answer by its name, for example `POST /v1/chat/completions`. */
  find(name: string): ts.Type | undefined;
}

export interface VendorTypes {
  readonly checker: ts.TypeChecker;
  readonly openai: AnswerTypes;
  readonly anthropic: AnswerTypes;
}

/** Reads the answers of both vendors, and what they import from the SDKs, with the TypeScript compiler. */
export function loadVendorTypes(): VendorTypes {
  const files = ['./openai.ts', './anthropic.ts'].map((file) =>
    fileURLToPath(new URL(file, import.meta.url)),
  );
  const program = ts.createProgram(files, {
    target: ts.ScriptTarget.ES2023,
    lib: ['lib.es2023.d.ts'],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    noEmit: true,
    types: [],
  });
  const [openai = '', anthropic = ''] = files;
  return {
    checker: program.getTypeChecker(),
    openai: findAnswers(program, openai, 'OpenAIAnswers'),
    anthropic: findAnswers(program, anthropic, 'AnthropicAnswers'),
  };
}

function findAnswers(program: ts.Program, path: string, name: string): AnswerTypes {
  const source = program.getSourceFile(path);
  if (source === undefined) throw new Error(`${path} was not read`);
  const wrong = program.getSemanticDiagnostics(source).map(({ messageText }) => messageText);
  if (wrong.length > 0) throw new Error(`${path}: ${JSON.stringify(wrong)}`);
  const checker = program.getTypeChecker();
  const module = checker.getSymbolAtLocation(source);
  const answers =
    module && checker.getExportsOfModule(module).find((exported) => exported.getName() === name);
  if (answers === undefined) throw new Error(`${path} does not export ${name}`);
  const type = checker.getDeclaredTypeOfSymbol(answers);
  return {
    find(answer) {
      const property = type.getProperty(answer);
      return property && checker.getTypeOfSymbol(property);
    },
  };
}
