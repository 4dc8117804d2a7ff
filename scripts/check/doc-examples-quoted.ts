import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { repositoryRoot, sourceFiles } from '../repository.ts';

/**
 * Matches a quoted block: a link to a file alone on its line, then a code block. The link's fragment names a part of
 * the file: `#name` is a top-level declaration, `#name.method` a call in its chain, `#words-of-a-title` a test.
 */
const quotedBlock = /^\[[^\]\n]+\]\(([^()\s#]+)(?:#([^()\s]+))?\)\n\n```\w+\n(.*?)^```$/gms;

/**
 * withoutQuotes returns a page with its quoted blocks blanked out, line by line: their code is checked in its own file.
 */
export function withoutQuotes(text: string): string {
  return text.replaceAll(quotedBlock, (block) => block.replaceAll(/[^\n]/g, ''));
}

/** refreshQuotes returns a page with every quoted block replaced by the current content of its file. */
export function refreshQuotes(text: string, read: (path: string) => string): string {
  return text.replaceAll(quotedBlock, (block: string, path: string, part: string | undefined, code: string) => {
    const source = read(path);
    const fresh = part === undefined ? source : partOf(source, part);
    if (fresh === undefined) throw new Error(`${path} has no part "${part}"`);
    return `${block.slice(0, block.length - code.length - 3)}${fresh.trimEnd()}\n\`\`\``;
  });
}

/** partOf returns the text of a part of a TypeScript source, including the preceding comment. */
function partOf(source: string, part: string): string | undefined {
  const file = ts.createSourceFile('quoted.ts', source, ts.ScriptTarget.Latest, true);
  const [name = '', method] = part.split('.');
  const statements = file.statements.filter((statement) => namesOf(statement).includes(name));
  if (statements.length === 0) return undefined;
  if (method === undefined) return statements.map((statement) => statement.getFullText().trim()).join('\n\n');
  const call = statements.flatMap((statement) => callsOf(statement, method))[0];
  return call && dedent(source.slice(call.name.getStart() - 1, call.parent.end));
}

/** namesOf returns the names that a statement declares, or the title of the test. */
function namesOf(statement: ts.Statement): readonly string[] {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.map(({ name }) => name.getText());
  }
  if (ts.isExpressionStatement(statement) && ts.isCallExpression(statement.expression)) {
    const [title] = statement.expression.arguments;
    return title && ts.isStringLiteralLike(title) ? [slugOf(title.text)] : [];
  }
  const { name } = statement as { name?: ts.Node };
  return name ? [name.getText()] : [];
}

function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^a-z0-9 -]/g, '')
    .replaceAll(' ', '-');
}

/** callsOf returns the calls of a method in a statement, outermost first. */
function callsOf(node: ts.Node, method: string): readonly ts.PropertyAccessExpression[] {
  const own =
    ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression) && node.expression.name.text === method
      ? [node.expression]
      : [];
  const nested: ts.PropertyAccessExpression[] = [];
  node.forEachChild((child) => {
    nested.push(...callsOf(child, method));
  });
  return [...own, ...nested];
}

/** The first line has no indentation; the last line has the indentation to remove. */
function dedent(text: string): string {
  const indentation = /\n( *)[^\n]*$/.exec(text)?.[1] ?? '';
  return text.replaceAll(`\n${indentation}`, '\n');
}

/** staleQuotes compares every quoted block in the documentation with its file, or updates it if `update` is set. */
export function staleQuotes(options: { readonly update?: boolean } = {}): string[] {
  return sourceFiles('docs', '.md').flatMap((page) => {
    const path = join(repositoryRoot, page);
    const text = readFileSync(path, 'utf8');
    try {
      const fresh = refreshQuotes(text, (file) => readFileSync(join(dirname(path), file), 'utf8'));
      if (fresh === text) return [];
      if (!options.update)
        return [`${page}: a quoted block differs from its file; update it with: npm run check -- --update`];
      writeFileSync(path, fresh);
      return [];
    } catch (error) {
      return [`${page}: ${error instanceof Error ? error.message : String(error)}`];
    }
  });
}
