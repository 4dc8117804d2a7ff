import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { repositoryRoot } from '../repository.ts';

/** ApiReportOptions configures whether reports are compared or written. */
export interface ApiReportOptions {
  /** Write the reports instead of comparing. Defaults to false. */
  update?: boolean;
}

/** apiReports compares each package's public declarations with the last reviewed report. */
export function apiReports(options: ApiReportOptions = {}): string[] {
  const problems: string[] = [];
  const packages = ['packages', 'operators'].flatMap((parent) =>
    readdirSync(join(repositoryRoot, parent))
      .sort()
      .map((name) => ({ name, path: `${parent}/${name}` })),
  );
  for (const { name, path } of packages) {
    const folder = join(repositoryRoot, path);
    const file = join(folder, 'api-report.md');
    const report = apiReport(name, folder);
    if (options.update) writeFileSync(file, report);
    else if (!existsSync(file) || readFileSync(file, 'utf8') !== report) {
      problems.push(
        `${path}/api-report.md does not match the exports of the package; update it with: npm run check -- --update`,
      );
    }
  }
  return problems;
}

/** Entries whose declarations are generated data: the generator's input is reviewed instead. */
const generated = /\/generated\//;

function apiReport(name: string, folder: string): string {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    exports: Record<string, { types?: string }>;
  };
  const entries = Object.entries(manifest.exports).flatMap(([path, target]) =>
    target.types === undefined || path.includes('*') ? [] : [{ path, file: join(folder, target.types) }],
  );
  const program = ts.createProgram(
    entries.map(({ file }) => file),
    {
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      noEmit: true,
      skipLibCheck: true,
      types: ['node'],
    },
  );
  const checker = program.getTypeChecker();
  const sections = entries.map(({ path, file }) => {
    const source = program.getSourceFile(file);
    const symbol = source && checker.getSymbolAtLocation(source);
    if (!symbol) throw new Error(`${file} has no exports; build first`);
    const lines = checker
      .getExportsOfModule(symbol)
      .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
      .map((each) => declarationText(checker, each));
    return `## \`${['@bowline', name, path.slice(2)].filter(Boolean).join('/')}\`\n\n\`\`\`ts\n${lines.join('\n')}\n\`\`\`\n`;
  });
  return `<!-- Written by \`npm run check -- --update\`: the public declarations of @bowline/${name}. -->\n\n${sections.join('\n')}`;
}

const printer = ts.createPrinter({ removeComments: true });

function declarationText(checker: ts.TypeChecker, exported: ts.Symbol): string {
  const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
  return (symbol.declarations ?? [])
    .map((declaration) => {
      const file = declaration.getSourceFile();
      if (generated.test(file.fileName)) return `// ${exported.name}: generated`;
      const node = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
      return inOrder(printer.printNode(ts.EmitHint.Unspecified, node, file));
    })
    .filter((text, index, all) => all.indexOf(text) === index)
    .join('\n');
}

/**
 * Sorts inferred unions of texts: the compiler lists them in the order in which it first encountered them, which may
 * differ between builds.
 */
function inOrder(text: string): string {
  return text.replaceAll(/"[^"\n]*"(?: \| "[^"\n]*")+/g, (union) => union.split(' | ').sort().join(' | '));
}
