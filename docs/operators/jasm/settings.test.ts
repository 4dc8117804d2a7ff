import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { providerKinds } from '@bowline/jasm';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { config } from '../../../operators/jasm/src/config.ts';
import { configOf } from '../../../operators/jasm/src/testing/config-of.test-support.ts';
import { repositoryRoot, sourceFiles } from '../../../scripts/repository.ts';

const FOLDER = 'docs/operators/jasm';
const textOf = (file: string): string => readFileSync(join(repositoryRoot, file), 'utf8');

/** The settings that pages show, also where they quote a file: `page: text`. */
const shown = sourceFiles(FOLDER, '.md').flatMap((page) =>
  [...textOf(page).matchAll(/^```yaml\n(jasm:\n.*?)^```$/gms)].map(([, text = '']) => [page, text] as const),
);

it('the pages contain examples of settings', () => {
  expect(shown.length).toBeGreaterThan(5);
});

it.each(shown)('%s shows valid settings', (_, text) => {
  const { jasm } = parse(text) as { readonly jasm: object };
  // Who may read what is a page of its own.
  expect(() => configOf(config, { policy: [], ...jasm })).not.toThrow();
});

describe('every provider', () => {
  const { aws, vault, azure, mock } = configOf(config, { allowAllPaths: true, mock: { enabled: true } });
  const kinds = [...providerKinds({ aws, vault, azure, mock }).values()];

  it.each(kinds)('has a page that describes its path format in one line: $name', ({ name, pathFormat }) => {
    const page = textOf(`${FOLDER}/providers/${name}.md`);
    expect(page).toMatch(new RegExp(`^# \`${name}\`\n`));
    expect(page).toContain(`\n\nA path is ${pathFormat}.\n\n`);
  });

  it('is listed on the overview page', () => {
    const listed = [...textOf(`${FOLDER}/README.md`).matchAll(/^\| `([a-z-]+)` \| .*\(providers\/\1\.md\)/gm)];
    expect(listed.map(([, name]) => name)).toEqual(kinds.map(({ name }) => name));
  });
});
