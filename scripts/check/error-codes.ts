import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot, sourceFiles } from '../repository.ts';

const page = 'docs/reference/errors.md';

/** errorCodesIn lists the distinct error codes in string literals of a source text. */
export function errorCodesIn(source: string): string[] {
  return [...new Set([...source.matchAll(/['"`](BOWLINE_[A-Z0-9_]+)['"`]/g)].flatMap((match) => match[1] ?? []))];
}

/** undocumentedErrorCodes compares the codes in the source with the table on the errors page, in both directions. */
export function undocumentedErrorCodes(): string[] {
  const documented = new Set(
    [...readFileSync(join(repositoryRoot, page), 'utf8').matchAll(/^\| `(BOWLINE_[A-Z0-9_]+)`/gm)].flatMap(
      (match) => match[1] ?? [],
    ),
  );
  const used = new Map<string, string>();
  for (const folder of ['packages', 'operators', 'apps']) {
    for (const file of sourceFiles(folder, '.ts').filter((each) => !each.endsWith('.test.ts'))) {
      for (const code of errorCodesIn(readFileSync(join(repositoryRoot, file), 'utf8'))) used.set(code, file);
    }
  }
  return [
    ...[...used]
      .filter(([code]) => !documented.has(code))
      .map(([code, file]) => `${file}: ${code} has no row in ${page}`),
    ...[...documented].filter((code) => !used.has(code)).map((code) => `${page}: ${code} is no longer thrown`),
  ];
}
