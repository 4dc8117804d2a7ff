import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { repositoryRoot, sourceFiles } from '../repository.ts';
import { withoutQuotes } from './doc-examples-quoted.ts';

/** Pages whose TypeScript is not an example: API reports contain declarations. */
const notExamples = /api-report\.md$/;

/** CodeBlock is one fenced TypeScript example of a page. */
interface CodeBlock {
  readonly page: string;
  /** The line of the page on which the code begins, from 1. */
  readonly line: number;
  readonly code: string;
}

/** codeBlocks lists the TypeScript examples of a page, except those that quote a file. */
export function codeBlocks(page: string, text: string): CodeBlock[] {
  const own = withoutQuotes(text);
  return [...own.matchAll(/^```ts\n(.*?)^```$/gms)].map((match) => ({
    page,
    line: own.slice(0, match.index).split('\n').length + 1,
    code: match[1] ?? '',
  }));
}

function pages(): string[] {
  const root = readdirSync(repositoryRoot).filter((name) => name.endsWith('.md'));
  const nested = ['docs', 'packages', 'apps'].flatMap((folder) => sourceFiles(folder, '.md'));
  return [...root, ...nested].filter((page) => !notExamples.test(page));
}

/** brokenExamples type-checks every TypeScript example in the documentation, each as a separate module. */
export function brokenExamples(blocks: readonly CodeBlock[] = pages().flatMap(readBlocks)): string[] {
  const config = ts.getParsedCommandLineOfConfigFile(
    join(repositoryRoot, 'tsconfig.json'),
    {},
    {
      ...ts.sys,
      onUnRecoverableConfigFileDiagnostic: (diagnostic) => {
        throw new Error(ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n'));
      },
    },
  );
  if (!config) throw new Error('tsconfig.json cannot be read');
  // In a folder of the root, so that packages resolve as elsewhere in the repository.
  const files = new Map(blocks.map((block, index) => [join(repositoryRoot, `docs/example-${index}.ts`), block]));
  const options = { ...config.options, noUnusedLocals: false, noUnusedParameters: false };
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (path) => files.has(path) || fileExists(path);
  host.readFile = (path) => files.get(path)?.code ?? readFile(path);
  host.getSourceFile = (path, version, ...rest) => {
    const block = files.get(path);
    return block ? ts.createSourceFile(path, block.code, version) : getSourceFile(path, version, ...rest);
  };
  const program = ts.createProgram([...files.keys()], options, host);
  return [...files].flatMap(([path, block]) => {
    const source = program.getSourceFile(path);
    const diagnostics = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    return diagnostics.map(({ start = 0, messageText }) => {
      const line = block.line + (source?.getLineAndCharacterOfPosition(start).line ?? 0);
      return `${block.page}:${line}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
    });
  });
}

function readBlocks(page: string): CodeBlock[] {
  return codeBlocks(page, readFileSync(join(repositoryRoot, page), 'utf8'));
}
