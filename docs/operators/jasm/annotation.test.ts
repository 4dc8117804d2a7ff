import { readFileSync } from 'node:fs';
import { providerKinds } from '@bowline/jasm';
import { renderKindPage } from '@bowline/machinery/schema';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { entrySchema } from '../../../operators/jasm/src/annotation/entry-schema.ts';
import { parsePodAnnotation } from '../../../operators/jasm/src/annotation/parse-pod-annotation.ts';
import { POD_ANNOTATIONS } from '../../../operators/jasm/src/api/names.ts';
import { config } from '../../../operators/jasm/src/config.ts';
import { configOf } from '../../../operators/jasm/src/testing/config-of.test-support.ts';

const page = readFileSync(new URL('./annotation.md', import.meta.url), 'utf8');
const { aws, vault, azure, mock } = configOf(config, { allowAllPaths: true, mock: { enabled: true } });
const PROVIDERS = [...providerKinds({ aws, vault, azure, mock }).keys()];
const FIELDS = Object.keys(entrySchema.json.properties ?? {});

it('the tables of fields and of rejected annotations match the code', async () => {
  await expect(withRefusals(withFields(page))).toMatchFileSnapshot('./annotation.md');
});

describe('every field', () => {
  const sections = page.split(/^### /m).slice(1);
  it('has its own section', () => {
    expect(sections.map((section) => /^`(\w+)`/.exec(section)?.[1])).toEqual([...FIELDS, 'secrets']);
  });

  it.each(FIELDS)('has an example that is accepted: %s', (field) => {
    const section = sections.find((each) => each.startsWith(`\`${field}\``)) ?? '';
    const examples = examplesIn(section);
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) expect(Object.keys(parse(example) as object)).toContain(field);
  });
});

it.each(examplesIn(page).map((example, index) => [index + 1, example] as const))(
  'example %i is accepted',
  (_, example) => {
    const given = parse(example) as { readonly metadata?: { readonly annotations: Readonly<Record<string, string>> } };
    const text = given.metadata?.annotations[POD_ANNOTATIONS.secretSync] ?? example;
    const { requests, problems } = parsePodAnnotation(text, PROVIDERS);
    expect(problems).toEqual([]);
    expect(requests).not.toEqual([]);
  },
);

function examplesIn(text: string): readonly string[] {
  return [...text.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, example = '']) => example);
}

/** The rows of a page about a kind whose spec is the entry. `keys` has two shapes, which no schema of Kubernetes can say. */
function withFields(text: string): string {
  const kind = {
    group: 'jasm.codnod.io',
    version: 'v1',
    kind: 'Entry',
    scope: 'Namespaced',
    spec: entrySchema,
  } as const;
  const rows = renderKindPage(kind).split('\n## spec\n')[1] ?? '';
  const table = rows
    .trim()
    .replaceAll('| `spec.', '| `')
    .replace('| `keys` | any |', '| `keys` | list or map of string |');
  expect(table).toContain('| `secretName` | string | **required** |');
  return text.replace(/(?<=<!-- fields -->\n).*(?=<!-- end of fields -->)/s, () => `\n${table}\n\n`);
}

/** Every annotation in the table of refusals, with what is said about it. */
function withRefusals(text: string): string {
  return text.replace(/(?<=^\| annotation \| message \|\n.*\n)(?:\|.*\n)+/m, (rows) =>
    rows.replaceAll(/^\| `(.*?)` \|.*$/gm, (_, annotation: string) => {
      const { requests, problems } = parsePodAnnotation(annotation, PROVIDERS);
      expect(requests).toEqual([]);
      return `| \`${annotation}\` | ${problems.map(({ message }) => `\`${message}\``).join('<br>')} |`;
    }),
  );
}
